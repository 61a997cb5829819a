// All jobs of this daemon, and all peers it knows.

import { useState } from 'preact/hooks';
import { count } from '../format';
import { isHere, jobs, peers } from '../live';
import { Card, Choice } from '../parts';
import { JobList, NoJobs, PeerTable } from '../tables';
import type { JobSummary } from '../types';

const MAX_SHOWN = 200;

function Filter({ text, set, placeholder }: { text: string; set: (text: string) => void; placeholder: string }) {
  return (
    <>
      <label class="sr" for="filter">{placeholder}</label>
      <input class="in" id="filter" value={text} placeholder={placeholder} aria-keyshortcuts="/" onInput={(event) => set(event.currentTarget.value)} />
    </>
  );
}

const KINDS: Record<string, (job: JobSummary) => boolean> = {
  all: () => true, open: (job) => job.state === 'running' || job.state === 'suspended', done: (job) => job.state === 'done',
  failed: (job) => job.state === 'failed' || job.state === 'cancelled',
};

export function JobsPage() {
  const [text, setText] = useState('');
  const [kind, setKind] = useState('all');
  if (!jobs.value) return null;
  const found = jobs.value.filter((job) => KINDS[kind]!(job) && (job.name.includes(text) || job.id.startsWith(text)));
  return (
    <Card title="Jobs" id="t-jobs" count={count(found.length)} tools={
      <div class="filters"><Filter text={text} set={setText} placeholder="Name or id" />
        <Choice label="Which jobs" value={kind} options={[['all', 'All'], ['open', 'Open'], ['done', 'Done'], ['failed', 'Failed']]} choose={setKind} /></div>}
      foot={found.length > MAX_SHOWN ? `The newest ${MAX_SHOWN} of ${count(found.length)} are shown.` : undefined}>
      <h1 class="sr">Jobs</h1>
      {jobs.value.length === 0 ? <NoJobs /> : found.length === 0 ? <div class="blank low"><p>No job fits.</p></div> : <JobList jobs={found.slice(0, MAX_SHOWN)} />}
    </Card>
  );
}

export function PeersPage() {
  const [text, setText] = useState('');
  const [which, setWhich] = useState<'all' | 'alive' | 'free'>('all');
  if (!peers.value) return null;
  const found = peers.value.filter((peer) => (which === 'all' || (isHere(peer) && (which === 'alive' || peer.free_slots > 0))) &&
    (peer.name.includes(text) || peer.id.startsWith(text) || peer.address.includes(text)));
  return (
    <Card title="Peers" id="t-peers" count={count(found.length)} tools={
      <div class="filters"><Filter text={text} set={setText} placeholder="Name, id or address" />
        <Choice label="Which peers" value={which} options={[['all', 'All'], ['alive', 'Alive'], ['free', 'With free slots']]} choose={setWhich} /></div>}
      foot={found.length > MAX_SHOWN ? `${MAX_SHOWN} of ${count(found.length)} are shown.` : undefined}>
      <h1 class="sr">Peers</h1>
      {found.length === 0 ? <div class="blank low"><p>No peer fits.</p></div> : <PeerTable peers={found.slice(0, MAX_SHOWN)} />}
    </Card>
  );
}
