// Login with an API key. The key is sent once, to get a session; the page does not keep it.
import { useState } from 'preact/hooks';
import type { Session } from '../api';
import { Failure, ask } from '../load';
import { address, go, usePlace } from '../url';
import { Heading } from './heading';

// local returns an address within this app; a login must not open any other.
function local(next: string | null): string {
  try {
    const to = new URL(next ?? '/runs', location.origin);
    return to.origin === location.origin && to.pathname !== '/login' && !to.pathname.startsWith('//') ? to.pathname + to.search : '/runs';
  } catch {
    return '/runs';
  }
}

export default function Login() {
  const { query } = usePlace();
  const [key, set] = useState(''), [said, say] = useState(''), [busy, setBusy] = useState(false);
  const login = async (e: Event) => {
    e.preventDefault();
    setBusy(true);
    say('');
    try {
      await ask<Session>('POST', '/v1/session', { key: key.trim() });
      const to = local(query.get('next'));
      if (to.startsWith('/docs')) location.replace(to); // not a page of the app
      else go(to, true);
    } catch (e) {
      say(e instanceof Failure ? (e.problem.status === 401 ? 'The server does not know this key, or it was revoked.' : e.message) : String(e));
      setBusy(false);
    }
  };
  return (
    <div class="login">
      <Heading title="Log in" />
      <form onSubmit={login}>
        <label class="field"><span>API key</span><input type="password" autocomplete="off" spellcheck={false} required value={key} aria-describedby="said" onInput={(e) => set(e.currentTarget.value)} /></label>
        <button type="submit" disabled={busy}>Log in</button>
        <p id="said" role="alert">{said}</p>
      </form>
      <p class="muted">To create a key, run <code>proviso key create NAME</code> on the server. The browser keeps a session cookie, and not the key.</p>
      <p class="muted"><code>proviso view</code> needs no key: open the link that it printed.</p>
      <p><a href={address('/runs')}>All runs</a></p>
    </div>
  );
}
