import { useState } from 'preact/hooks';

// CopyLink copies the address of what is shown, filters included.
export function CopyLink() {
  const [said, say] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      say('Copied');
    } catch {
      say('Not copied. Copy the address of the page instead');
    }
    setTimeout(() => say(''), 3000);
  };
  return <><button type="button" onClick={copy}>Copy link</button><span class="said" role="status">{said}</span></>;
}

// Download links to a file of the server.
export function Download({ href, name, children }: { href: string; name: string; children: string }) {
  return <a class="button" href={href} download={name}>{children}</a>;
}
