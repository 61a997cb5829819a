// The dashboard: the grid, its jobs and what happens.

import { useState } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { clock, brief, count, moment, nameOf, percent, plural, roundTrip } from '../format';
import { findings } from '../findings';
import { happened, history, isHere, jobs, node, peers } from '../live';
import { GridMap } from '../map';
import { Blank, Card, Cells, Choice, Command, Dot, Icon, Spark } from '../parts';
import { peerLink } from '../route';
import { JobList, NoJobs, PeerTable } from '../tables';
import type { JobSummary, Node, Peer } from '../types';

function Figures({ node, peers, jobs }: { node: Node; peers: Peer[]; jobs: JobSummary[] }) {
  const here = peers.filter(isHere), open = jobs.filter((job) => job.state === 'running' || job.state === 'suspended');
  const slots = here.reduce((sum, peer) => sum + peer.slots, 0), free = here.reduce((sum, peer) => sum + peer.free_slots, 0);
  const sum = (of: (job: JobSummary) => number, list = jobs) => list.reduce((all, job) => all + of(job), 0);
  const gone = peers.length - here.length;
  const lost = sum((job) => job.lost);
  return (
    <dl class="figures">
      <div><Spark values={history.value.peers} /><dt>Peers</dt><dd class="v">{count(here.length)} <small>alive</small></dd><dd class="d">{gone > 0 ? `${plural(gone, 'other')} not answering` : here.length > 1 ? 'all answer' : 'this one alone'}</dd></div>
      <div><Spark values={history.value.slots} /><dt>Slots in use</dt><dd class="v">{count(slots - free)} <small>of {count(slots)}</small></dd><dd class="d">{percent(slots - free, slots)} of what is lent · {count(free)} free</dd></div>
      <div><Spark values={history.value.running} /><dt>Threads of your jobs</dt><dd class="v">{count(sum((job) => job.running, open))} <small>running</small></dd><dd class="d">{count(sum((job) => job.waiting, open))} waiting</dd></div>
      <div><dt>Jobs</dt><dd class="v">{count(jobs.filter((job) => job.state === 'running').length)} <small>running</small></dd><dd class="d">{count(open.filter((job) => job.state === 'suspended').length)} suspended · {count(jobs.length - open.length)} ended</dd></div>
      <div><dt>Lost with a peer</dt><dd class="v">{count(lost)} <small>→ {count(sum((job) => job.resumed + job.restarted))} recovered</small></dd><dd class="d">{plural(sum((job) => job.peers_lost), 'host')} lost by these jobs</dd></div>
      <div><dt>Load of this machine</dt><dd class="v">{node.load.toFixed(2)} <small>of {plural(node.cores, 'core')}</small></dd><dd class="d">{plural(node.workers, 'worker')} of jobs here</dd></div>
    </dl>
  );
}

function Selected({ peer }: { peer: Peer }) {
  return (
    <div class="sheet" aria-live="polite">
      <span class="who"><Icon name="machine" /><b>{nameOf(peer.name, peer.id)}</b> <code>{brief(peer.id)}</code></span>
      <dl>
        <div><dt>Slots</dt><dd><Cells used={peer.slots - peer.free_slots} all={peer.slots} /></dd></div>
        {peer.state !== 'self' && <div><dt>Round trip</dt><dd>{roundTrip(peer.distance_us)}</dd></div>}
        {peer.way && <div><dt>Way</dt><dd>{peer.way}</dd></div>}
        {peer.capacity && <div><dt>Owner’s load</dt><dd>{Math.round(peer.capacity.load * 100)} %</dd></div>}
      </dl>
      <span class="acts"><a class="btn small" href={peerLink(peer.id)}>Open</a></span>
    </div>
  );
}

function Alone({ node }: { node: Node }) {
  const address = node.addresses[0];
  const reachable = address && !address.startsWith('127.') && !address.startsWith('[::1]');
  return (
    <Blank icon="map" title="This peer is alone">
      <p>It lends {plural(node.slots, 'slot')}, and jobs run on them already. {reachable ? 'Paste this line on another machine, and it joins:' : 'It listens on loopback only. Restart it like this, and other machines can join:'}</p>
      <Command line={reachable ? `godwit up --join ${address}` : 'godwit up --listen 0.0.0.0:7400 --web'} />
    </Blank>
  );
}

function Happened() {
  const held = useSignal<typeof happened.value | null>(null);
  const list = held.value ?? happened.value;
  return (
    <Card title="What happened" id="t-events" tools={
      <button class="btn ghost small" type="button" aria-pressed={held.value !== null} onClick={() => { held.value = held.value ? null : happened.value; }}>
        <Icon name={held.value ? 'launch' : 'pause'} cls="s" />{held.value ? 'Go on' : 'Hold'}
      </button>}>
      {list.length === 0 ? <div class="blank low"><p>Nothing yet.</p></div> : (
        <ol class="events" aria-live="off">
          {list.slice(0, 12).map((one, at) => (
            <li key={`${one.at}-${at}`}><time title={moment(one.at)}>{clock(one.at)}</time><Dot mark={one.mark} /><span><b>{one.link ? <a href={one.link}>{one.who}</a> : one.who}</b>{one.text}</span></li>
          ))}
        </ol>
      )}
    </Card>
  );
}

function Findings({ node, peers }: { node: Node; peers: Peer[] }) {
  const found = findings(node, peers);
  return (
    <Card title="Needs a look" id="t-findings" cls="w4" count={found.length > 0 ? String(found.length) : ''} tools={<code class="quiet">godwit doctor</code>}>
      {found.length === 0 ? <div class="blank low"><p>Nothing. All is well with this machine.</p></div> : (
        <ul class="waits icons">
          {found.map((one) => (
            <li key={one.title}><span class={`n ${one.verdict}-ink`}><Icon name={one.verdict} /></span><div><b>{one.title}</b></div><div class="fix">{one.fix}</div></li>
          ))}
        </ul>
      )}
    </Card>
  );
}

export function GridPage() {
  const [which, setWhich] = useState<'open' | 'all'>('open');
  const [selected, setSelected] = useState('');
  if (!node.value || !peers.value || !jobs.value) return null;
  const all = jobs.value, open = all.filter((job) => job.state === 'running' || job.state === 'suspended');
  const shown = (which === 'open' ? open : all).slice(0, 8);
  const known = peers.value.filter((peer) => peer.state !== 'silent');
  const chosen = known.find((peer) => peer.id === selected) ?? known.find((peer) => peer.state === 'self');
  return (
    <>
      <h1 class="sr">Grid</h1>
      <Figures node={node.value} peers={peers.value} jobs={all} />
      <div class="cols even gap-top">
        <Card title="Grid" id="t-map" cls="w8 mapcard" hint={known.length > 1 ? 'Rings: round trip from this peer. Dots: slots that are lent.' : ''} foot={known.length > 1 && chosen ? <Selected peer={chosen} /> : undefined}>
          {known.length > 1 ? <GridMap peers={known} selected={chosen?.id ?? ''} select={setSelected} /> : <Alone node={node.value} />}
        </Card>
        <div class="stack fill w4">
          <Card title="Jobs" id="t-jobs" tools={<Choice label="Which jobs" value={which} options={[['open', `Open ${open.length}`], ['all', `All ${all.length}`]]} choose={setWhich} />}
            foot={(which === 'open' ? open : all).length > shown.length ? <a href="#/jobs">All {count(all.length)} jobs</a> : undefined}>
            {shown.length > 0 ? <JobList jobs={shown} /> : all.length === 0 ? <NoJobs /> : <div class="blank low"><p>No job runs now. {plural(all.length, 'job')} ended.</p></div>}
          </Card>
          <Happened />
        </div>
        <Card title="Peers" id="t-peers" cls="w8" count={count(known.length)} tools={<a class="btn small" href="#/peers">All peers</a>}><PeerTable peers={known.slice(0, 20)} /></Card>
        <Findings node={node.value} peers={peers.value} />
      </div>
    </>
  );
}
