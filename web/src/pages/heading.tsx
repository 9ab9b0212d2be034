import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { plain } from '../text';

let opened = false;

// Heading is the h1 of a page. When a page replaces another one, its heading takes the
// focus, so that a screen reader announces the new page. crumb links to the parent page,
// beside shows the most important fact.
export function Heading({ title, crumb, beside, children }: { title: string; crumb?: ComponentChildren; beside?: ComponentChildren; children?: ComponentChildren }) {
  const h1 = useRef<HTMLHeadingElement>(null);
  useEffect(() => { document.title = plain(title) + ' · proviso'; }, [title]);
  useEffect(() => {
    if (opened) {
      scrollTo(0, 0);
      h1.current!.focus({ preventScroll: true });
    }
    opened = true;
  }, []);
  return <div class="heading">{crumb && <p class="crumbs">{crumb} /</p>}<h1 ref={h1} tabIndex={-1}>{plain(title)}</h1>{beside}{children && <div class="pageactions">{children}</div>}</div>;
}
