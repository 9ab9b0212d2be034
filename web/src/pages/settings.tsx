// Facts about this server, and who may use it. Keys are never shown, only whether they
// exist.
import { useState } from 'preact/hooks';
import type { Session, Settings as Data_ } from '../api';
import { Failure, ask, get, useLoad } from '../load';
import { when } from '../number';
import { CopyLink, Download } from '../parts/actions';
import { Data, Empty } from '../parts/states';
import { plain } from '../text';
import { go } from '../url';
import { Heading } from './heading';
import { Table, type Col } from './table';

type Provider = Data_['providers'][number];
type Key = Data_['keys'][number];

const signs = { present: ['pass', '✓', 'Key present'], absent: ['skip', '○', 'Key absent'], 'not needed': ['skip', '–', 'No key needed'] } as const;

const providers: Col<Provider>[] = [
  { label: 'Provider', cell: (p) => plain(p.id) },
  { label: 'Key', cell: (p) => { const [tone, sign, word] = signs[p.key]; return <span class={'status ' + tone}><span aria-hidden="true">{sign} </span>{word}</span>; } },
];

const keys: Col<Key>[] = [
  { label: 'Name', cell: (k) => plain(k.name) },
  { label: 'Id', cell: (k) => <code>{plain(k.id)}</code> },
  { label: 'Scopes', cell: (k) => k.scopes.map(plain).join(', ') },
  { label: 'Last used', cell: (k) => when(k.last_used) || 'never' },
];

export default function Settings() {
  const loaded = useLoad((signal) => get<Data_>('/v1/settings', signal), []);
  return (
    <>
      <Heading title="Settings"><CopyLink /><Download href="/v1/settings" name="settings.json">Download JSON</Download></Heading>
      {loaded.problem?.status === 403 && <section aria-labelledby="session"><h2 id="session">Your session</h2><Who mode="serve" open={false} /></section>}
      <Data of={loaded} what="settings">{(s) => (
        <>
          <dl class="factlist">
            <div><dt>Version</dt><dd>{plain(s.version)}</dd></div>
            <div><dt>Mode</dt><dd>{s.mode === 'view' ? 'proviso view, on this machine' : 'proviso serve'}</dd></div>
            {s.folder && <div><dt>Folder of the runs</dt><dd><code>{plain(s.folder)}</code></dd></div>}
            <div><dt>Access</dt><dd>{s.read_only ? 'read-only' : 'read and write'}</dd></div>
          </dl>
          {s.open && s.mode === 'serve' && <p class="remark bad">There are no API keys, so everybody on this machine may use this server. To require keys, run <code>proviso key create NAME</code>.</p>}
          <section aria-labelledby="session"><h2 id="session">Your session</h2><Who mode={s.mode} open={s.open} /></section>
          <section class="narrow" aria-labelledby="providers"><h2 id="providers">Model providers</h2>
            <Providers list={s.providers} />
            <p class="muted after">Keys come from the environment of the server. They are never shown.</p></section>
          {s.mode === 'serve' && <section class="narrow" aria-labelledby="keys"><h2 id="keys">API keys</h2>
            {s.keys.length ? <Table caption="API keys" cols={keys} rows={s.keys} id={(k) => k.id} /> : <Empty command="proviso key create NAME">There are no API keys that you may see. To create one, run on the server:</Empty>}</section>}
          <section aria-labelledby="limits"><h2 id="limits">Limits</h2>
            <dl class="factlist">{Object.entries(s.limits).map(([name, value]) => <div key={name}><dt>{plain(name.replaceAll('_', ' '))}</dt><dd class="num">{typeof value === 'number' ? value.toLocaleString('en') : plain(value)}</dd></div>)}</dl></section>
        </>
      )}</Data>
    </>
  );
}

// Providers shows only the providers with a key; there are many others.
function Providers({ list }: { list: Provider[] }) {
  const ready = list.filter((p) => p.key !== 'absent'), rest = list.filter((p) => p.key === 'absent');
  return (
    <>
      {ready.length > 0 && <Table caption="Model providers" cols={providers} rows={ready} id={(p) => p.id} />}
      {rest.length > 0 && <p class="after"><span class="status skip"><span aria-hidden="true">○ </span>Key absent:</span> {rest.map((p) => plain(p.id)).join(', ')}</p>}
    </>
  );
}

function Who({ mode, open }: { mode: Data_['mode']; open: boolean }) {
  const session = useLoad((signal) => get<Session>('/v1/session', signal), []);
  const [said, say] = useState('');
  const leave = async (all: string) => {
    try {
      await ask('DELETE', '/v1/session' + all);
      sessionStorage.clear(); // texts of the playground
      dispatchEvent(new Event('proviso-logout'));
      go('/login');
    } catch (e) {
      say(e instanceof Failure ? e.message : String(e));
    }
  };
  return (
    <Data of={session} what="the session">{(s) => (
      <>
        <p>Project {plain(s.project)}. Scopes: {s.scopes.length ? s.scopes.map(plain).join(', ') : 'none'}.</p>
        {mode === 'view' ? <p class="muted">The session ends when <code>proviso view</code> stops. Ctrl-C in its terminal stops it.</p>
          : !open && <p><button type="button" onClick={() => leave('')}>Log out</button> <button type="button" onClick={() => leave('?all=yes')}>Log out everywhere</button> <span role="alert">{said}</span></p>}
      </>
    )}</Data>
  );
}
