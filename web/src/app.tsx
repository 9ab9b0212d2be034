// The app: its frame, and the page for each address.
import { render, type ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Session } from './api';
import { again, get, heard, useLoad } from './load';
import { Heading } from './pages/heading';
import { RunPage } from './pages/run';
import { ThemeButton, startTheme } from './pages/theme';
import { Failed, Skeleton } from './parts/states';
import { address, decoded, follow, go, usePlace } from './url';
import './frame';

// labels reports whether a session may only label.
const labels = (s: Session): boolean => s.scopes.length > 0 && s.scopes.every((x) => x === 'label');

// serves reports whether the data comes from a server and not from the folder of proviso
// view, which has no traffic.
const serves = (s: Session): boolean => s.mode === 'serve';

// The pages, and the sessions to which each is shown.
const nav: [name: string, what?: (s: Session) => boolean][] = [
  ['Runs'], ['Compare'], ['Assertions'], ['Label'], ['Judges'], ['Prompts'], ['Spade'], ['Datasets'],
  ['Monitor', serves], ['Traffic', serves],
  ['Playground', (s) => s.mode === 'serve' && (s.scopes.includes('evaluate') || s.scopes.includes('admin'))],
  ['Settings'],
];

type Load = () => Promise<ComponentType>;

// Pages are loaded when they are first opened. The run page is included because links lead
// to it.
const list = (path: string): Load => () => import('./pages/lists').then((m) => m.lists[path]!);
const routes: [address: RegExp, load: Load][] = [
  [/^\/runs$/, () => import('./pages/runs').then((m) => m.default)],
  [/^\/label(\/[^/]+)?$/, () => import('./pages/label').then((m) => m.default)],
  [/^\/judges\/.+\/workbench$/, () => import('./pages/workbench').then((m) => m.default)],
  [/^\/spade$/, () => import('./pages/spade').then((m) => m.default)],
  [/^\/playground$/, () => import('./pages/playground').then((m) => m.default)],
  [/^\/datasets(\/[^/]+)?$/, list('/datasets')],
  ...['monitor', 'alarms', 'traffic'].map((name): [RegExp, Load] => [new RegExp(`^/${name}(/[^/]+)?$`), () => import('./pages/watching').then((m) => m.watching[name]!)]),
  ...['compare', 'assertions', 'judges', 'prompts', 'settings', 'login'].map((name): [RegExp, Load] => [new RegExp(`^/${name}$`), list('/' + name)]),
];

function Page({ path }: { path: string }) {
  const [page, set] = useState<{ path: string; show?: ComponentType }>();
  const [turn, setTurn] = useState(0);
  const run = /^\/runs\/([^/]+)$/.exec(path);
  const load = routes.find(([address]) => address.test(path))?.[1];
  useEffect(() => {
    let current = true;
    load?.().then((show) => { if (current) set({ path, show }); }, () => { if (current) set({ path }); });
    return () => { current = false; };
  }, [path, turn]);
  if (run) return <RunPage key={path} id={decoded(run[1]!)} />;
  if (!load) return <NotFound path={path} />;
  if (page?.path !== path) return <Skeleton what="the page" />;
  if (!page.show) {
    return <Failed problem={{ type: '', title: 'The page could not be loaded', status: 0, detail: 'The server does not reply, or it has another version than this page. Reload the page.' }} retry={() => { set(undefined); setTurn(turn + 1); }} />;
  }
  const Shown = page.show;
  return <Shown key={path} />;
}

function NotFound({ path }: { path: string }) {
  return <><Heading title="Page not found" /><p>There is no page <code>{path}</code>. <a href="/runs">All runs</a></p></>;
}

// useServer follows whether the server replies, and whether the session is valid.
function useServer(): { gone: boolean; expired: boolean } {
  const [gone, setGone] = useState(false);
  const [expired, setExpired] = useState(false);
  useEffect(() => {
    const hear = (status: number) => {
      setGone(status === 0);
      if (status === 401) setExpired(true);
      else if (status >= 200 && status < 300) setExpired(false);
    };
    heard.add(hear);
    return () => { heard.delete(hear); };
  }, []);
  useEffect(() => {
    if (!gone) return;
    const timer = setInterval(() => {
      fetch('/healthz').then(() => setGone(false), () => undefined);
    }, 3000);
    return () => { clearInterval(timer); again.forEach((f) => f()); }; // after a reply of any kind
  }, [gone]);
  return { gone, expired };
}

function App() {
  const place = usePlace();
  const path = place.path.replace(/\/+$/, '') || '/';
  const { gone, expired } = useServer();
  // A run page makes many requests of its own. It does not load the session, and shows all
  // links.
  const run = path.startsWith('/runs/'), session = useLoad(async (signal) => (run ? undefined : get<Session>('/v1/session', signal)), [path === '/login', run]).data;
  // A key that may only label starts at its queues, because it may not read runs.
  const only = session && labels(session), home = only ? '/label' : '/runs';
  useEffect(() => {
    if (path === '/' && !only) go(address('/runs', place.query), true);
    else if (only && (path === '/' || path === '/runs')) go(address('/label'), true);
  }, [path, only]);
  // On a narrow screen the links scroll. This scrolls to the open page's link.
  useEffect(() => { document.querySelector('header nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' }); }, [path]);
  const back = place.path + (place.query.size ? '?' + place.query : '');
  return (
    <>
      <a class="skiplink" href="#main" data-native>Skip to content</a>
      <header class="top">
        <a class="brand" href={home}>proviso</a>
        <nav aria-label="Pages">
          {nav.filter(([name, use]) => (only ? name === 'Label' || name === 'Settings' : !use || (session ? use(session) : document.documentElement.dataset.mode !== 'view'))).map(([name]) => {
            const to = '/' + name.toLowerCase();
            return <a key={to} href={to} aria-current={path === to ? 'page' : path.startsWith(to + '/') || to === '/monitor' && path.startsWith('/alarms') ? 'true' : undefined}>{name}</a>;
          })}
          <a href="/docs">API docs</a>
        </nav>
        <ThemeButton />
      </header>
      <div class="bar-notes" role="status">
        {gone && <p class="bar-note">The server does not reply. The page shows what was loaded before, and continues when the server replies.</p>}
        {expired && path !== '/login' && <p class="bar-note">You are not logged in, or your session has ended. <a href={address('/login', { next: back })}>Log in</a> to return to this page.</p>}
      </div>
      <main id="main" tabIndex={-1}>{path !== '/' && <Page path={path} />}</main>
    </>
  );
}

startTheme();
document.addEventListener('click', follow);
render(<App />, document.getElementById('app') ?? document.body);
