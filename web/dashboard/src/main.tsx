// The frame of all pages: bar, notices, the page itself.

import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { brief, clock, nameOf } from './format';
import { askNow, failure, needsToken, nextTry, node, now, peers, silentSince, start } from './live';
import { Blank, Command, Failed, Icon } from './parts';
import { route } from './route';
import { GridPage } from './pages/grid';
import { JobPage } from './pages/job';
import { JobsPage, PeersPage } from './pages/lists';
import { PeerPage } from './pages/peer';
import './tokens.css';
import './components.css';
import './pages.css';

const TABS = [['grid', '#/', 'map', 'Grid'], ['jobs', '#/jobs', 'jobs', 'Jobs'], ['peers', '#/peers', 'machine', 'Peers']] as const;
const KEYS = [['/', 'Go to the filter'], ['g then g', 'Grid'], ['g then j', 'Jobs'], ['g then p', 'Peers'], ['?', 'These keys'], ['Esc', 'Close']];
const TITLES: Record<string, string> = { grid: 'Grid', jobs: 'Jobs', job: 'Job', peers: 'Peers', peer: 'Peer', nowhere: 'Nothing here' };

function toggleTheme(): void {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
  try { localStorage.setItem('theme', root.dataset.theme); } catch { /* a private window keeps nothing */ }
}

function Bar() {
  const page = route.value.page;
  const current = page === 'job' ? 'jobs' : page === 'peer' ? 'peers' : page;
  const silent = silentSince.value !== null;
  const grids = [...new Set((peers.value ?? []).map((peer) => peer.grid))];
  return (
    <header class="bar">
      <a class="brand" href="#/"><svg viewBox="0 0 30 22" aria-hidden="true"><path fill="currentColor" d="M1 15.3c3.6-.5 6.3-1.7 8.3-3.6C8.6 7.9 6.9 4.4 3.6 1c5.6.9 10.1 3.7 12.3 7.7.9-.9 2.2-1.5 3.6-1.5 1.5 0 2.7.7 3.3 1.8L29.6 7.3c-2.2 1.7-4.3 2.9-6.9 3.7-.9 3.7-4.7 6.2-9.3 6.4-4.3.2-8.3-.5-12.4-2.1z" /><circle cx="20.1" cy="9.3" r=".85" class="eye" /></svg>Godwit</a>
      {grids.length > 0 && <span class="where" title="Grids of this peer"><Icon name="lock" cls="s" /><b class="cut">{grids.join(', ')}</b></span>}
      <nav class="tabs" aria-label="Main">
        {TABS.map(([name, link, icon, word]) => <a key={name} href={link} {...(name === current ? { 'aria-current': 'page' as const } : {})}><Icon name={icon} />{word}</a>)}
      </nav>
      <span class="space" />
      {node.value && <span class={`live ${silent ? 'off' : ''}`} role="status"><i /><span><span class="word">{silent ? 'No answer' : 'Live'}</span><span class="cut"> · {nameOf(node.value.name, node.value.id)}</span></span></span>}
      <button class="btn ghost icon" type="button" aria-label="Switch between light and dark" onClick={toggleTheme}><Icon name="theme" /></button>
    </header>
  );
}

function Disconnected() {
  if (silentSince.value === null) return null;
  const left = Math.max(0, Math.ceil((nextTry.value - now.value) / 1000));
  return (
    <div class="note warn gap-below" role="alert">
      <Icon name="off" />
      <div><b>The daemon on this machine does not answer.</b> {node.value ? `What you see is from ${clock(silentSince.value / 1000)}. ` : ''}Jobs go on without this page. Next try in {left} s.</div>
      <div class="acts"><button class="btn small" type="button" onClick={askNow}>Try now</button></div>
    </div>
  );
}

function NoToken() {
  const why = needsToken.value;
  return (
    <section class="card"><div class="blank tall">
      <Icon name="lock" cls="hero" />
      <h1>{why === 'none' ? 'This page needs a link' : 'This link is not valid any more'}</h1>
      <p>{why === 'none' || why === null ? 'The dashboard shows what only you and those you trust should see. This command opens it:' : 'It was revoked, has expired, or is of another daemon. This command makes a new one:'}</p>
      <Command line="godwit web open" />
    </div></section>
  );
}

function Page() {
  if (failure.value && !node.value) return <section class="card"><Failed error={failure.value} /></section>;
  const at = route.value;
  if (at.page === 'job') return <JobPage key={at.id} id={at.id} />;
  if (!node.value) {
    return <div class="bones late" role="status" aria-busy="true" aria-label="Asking the daemon"><div class="bone fig" /><div class="cols"><div class="bone big w8" /><div class="stack w4"><div class="bone mid" /><div class="bone mid" /></div></div></div>;
  }
  if (at.page === 'grid') return <GridPage />;
  if (at.page === 'jobs') return <JobsPage />;
  if (at.page === 'peers') return <PeersPage />;
  if (at.page === 'peer') return <PeerPage id={at.id} />;
  return <section class="card"><Blank icon="find" title="There is no such page"><p><a href="#/">Back to the grid</a></p></Blank></section>;
}

function Keys() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    let before = '';
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || (event.target as Element).closest('input, textarea, select')) return;
      const key = event.key, first = before;
      before = key;
      if (key === '?') dialog.current?.showModal();
      else if (key === '/') { const filter = document.getElementById('filter'); if (filter) { event.preventDefault(); filter.focus(); } else location.hash = '#/jobs'; }
      else if (first === 'g' && 'gjp'.includes(key)) { location.hash = key === 'g' ? '#/' : key === 'j' ? '#/jobs' : '#/peers'; before = ''; }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    <dialog ref={dialog} class="keysheet" aria-labelledby="t-keys">
      <h2 id="t-keys">Keys</h2>
      <dl>{KEYS.map(([key, what]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{what}</dd></div>)}</dl>
      <button class="btn" type="button" onClick={() => dialog.current?.close()}>Close</button>
    </dialog>
  );
}

function App() {
  const [shown, setShown] = useState('');
  useEffect(() => { document.title = `${TITLES[route.value.page]} · ${node.value?.name || 'Godwit'} · Godwit`; }, [route.value, node.value?.name]);
  useEffect(() => { if (shown && shown !== route.value.page) document.getElementById('main')?.focus({ preventScroll: true }); setShown(route.value.page); }, [route.value]);
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById('main')?.focus(); }}>To the content</a>
      <Bar />
      <main class="page" id="main" tabIndex={-1}>
        {needsToken.value ? <NoToken /> : <><Disconnected /><div class={silentSince.value === null ? '' : 'stale'}><Page /></div></>}
      </main>
      <footer class="foot">{node.value && <span>Godwit {node.value.version} on {nameOf(node.value.name, node.value.id)}, peer <code>{brief(node.value.id)}</code></span>}<span>Keys: press <kbd>?</kbd></span></footer>
      <Keys />
    </>
  );
}

render(<App />, document.getElementById('app')!);
void start();
