// A peer: what is lent, and what runs there, as far as this daemon knows.

import { useState } from 'preact/hooks';
import { ApiError, post } from '../api';
import { brief, count, duration, moment, nameOf, plural, roundTrip, sentence, size } from '../format';
import { hosted, node, note, now, peers, scope } from '../live';
import { Blank, Card, Cells, Command, Icon, PeerPill, Scroll } from '../parts';
import { heard } from '../tables';
import { jobLink, peerLink } from '../route';
import type { Hosted, Node, Peer, Ping } from '../types';

const Fact = ({ name, children }: { name: string; children: preact.ComponentChildren }) => <div><dt>{name}</dt><dd>{children}</dd></div>;

function Lent({ node }: { node: Node }) {
  const share = node.share;
  return (
    <Card title="What it lends" id="t-share" cls="w5" tools={<span class="quiet">holds at once, kept after a restart</span>} foot={<Command line={`godwit share --cores ${share.cores} --cpu ${share.cpu_percent}% --for '${share.for}'`} />}>
      {node.not_lending && <div class="note plain inset"><Icon name="info" /><div>Jobs of other peers get nothing now: {node.not_lending}.</div></div>}
      <dl class="strip">
        <Fact name="Cores">{share.cores} <small>of {node.cores}</small></Fact>
        <Fact name="CPU time of each">{share.cpu_percent} <small>%</small></Fact>
        <Fact name="Memory">{share.memory_bytes === 0 ? 'no limit' : size(share.memory_bytes)}</Fact>
        <Fact name="Bandwidth">{share.bandwidth_bytes_per_s === 0 ? 'no limit' : `${size(share.bandwidth_bytes_per_s)}/s`}</Fact>
        <Fact name="To whom">{share.for}</Fact>
        <Fact name="When">{share.when}</Fact>
        {share.tags.length > 0 && <Fact name="Tags">{share.tags.join(', ')}</Fact>}
      </dl>
    </Card>
  );
}

const programOf = (job: Hosted): string => job.program.split('/').pop() || brief(job.id);

function RunsHere({ node }: { node: Node }) {
  return (
    <Card title="Runs here now" id="t-now" count={`${node.slots - node.free_slots} of ${plural(node.slots, 'slot')}`} tools={<Cells used={node.slots - node.free_slots} all={node.slots} />}>
      {hosted.value.length === 0 ? <div class="blank low"><p>No job holds a slot of this machine.</p></div> : (
        <Scroll label="Runs here now">
          <thead><tr><th scope="col">Program</th><th scope="col">State</th><th scope="col">Home</th><th scope="col" class="r">Slots</th><th scope="col" class="r">Here for</th><th scope="col" class="r mid">Memory</th><th scope="col" class="r mid">CPU time</th></tr></thead>
          <tbody>
            {hosted.value.map((job) => (
              <tr key={job.id}>
                <th scope="row">{job.home === node.id ? <a href={jobLink(job.id)}>{programOf(job)}</a> : programOf(job)}</th>
                <td>{sentence(job.state).slice(0, -1)}</td><td><a href={peerLink(job.home)}>{nameOf(job.home_name, job.home)}</a></td><td class="r">{job.slots}</td>
                <td class="r">{duration(now.value / 1000 - job.since)}</td><td class="r mid">{size(job.memory_bytes)}</td><td class="r mid">{duration(job.cpu_ms / 1000)}</td>
              </tr>
            ))}
          </tbody>
        </Scroll>
      )}
    </Card>
  );
}

function Machine({ node }: { node: Node }) {
  return (
    <Card title="This machine" id="t-machine">
      <dl class="strip">
        <Fact name="Load">{node.load.toFixed(2)} <small>of {plural(node.cores, 'core')}</small></Fact>
        <Fact name="Speed of a core">{node.capacity.speed > 0 ? node.capacity.speed.toFixed(2) : 'not measured yet'}</Fact>
        <Fact name="Disk free">{size(node.storage.free_bytes)}</Fact>
        <Fact name="Lent to others">{size(node.storage.lent_bytes)} <small>of {size(node.storage.lent_limit)}</small></Fact>
        <Fact name="Cache">{size(node.storage.cache_bytes)}</Fact>
        <Fact name="Finished jobs">{count(node.storage.finished_jobs)} <small>with {size(node.storage.finished_bytes)}</small></Fact>
        <Fact name="Relayed for others">{size(node.relayed_for_others)}</Fact>
      </dl>
    </Card>
  );
}

function Connection({ peer }: { peer: Peer }) {
  const [pong, setPong] = useState<Ping | ApiError | null>(null);
  const ping = () => { setPong(null); post<Ping>(`/v1/peers/${peer.id}/ping`).then(setPong, (why: unknown) => { if (why instanceof ApiError) setPong(why); note(why); }); };
  return (
    <Card title="Connection" id="t-link" cls="w6" tools={scope.value === 'manage' && <button class="btn small" type="button" onClick={ping}>Ping</button>}
      foot={pong && <span role="status">{pong instanceof ApiError ? pong.message : `Answered in ${roundTrip(pong.round_trip_us)}, ${pong.way}, version ${pong.version}.`}</span>}>
      <dl class="strip">
        <Fact name="Round trip">{roundTrip(peer.distance_us)}</Fact>
        <Fact name="Way">{peer.way ?? 'not connected'}</Fact>
        <Fact name="Last message">{heard(peer)}</Fact>
        <Fact name="Reach">{peer.class.replace('_', ' ')}</Fact>
        <Fact name="Received">{size(peer.bytes_in)}</Fact>
        <Fact name="Sent">{size(peer.bytes_out)}</Fact>
      </dl>
    </Card>
  );
}

function Offers({ peer }: { peer: Peer }) {
  const capacity = peer.capacity;
  return (
    <Card title="What it lends" id="t-lends" cls="w6" tools={<Cells used={peer.slots - peer.free_slots} all={peer.slots} />}>
      <dl class="strip">
        <Fact name="Slots free">{peer.free_slots} <small>of {peer.slots}</small></Fact>
        {capacity && <><Fact name="Speed of a core">{capacity.speed > 0 ? capacity.speed.toFixed(2) : 'not measured yet'}</Fact>
          <Fact name="Memory for a slot">{capacity.memory_bytes === 0 ? 'no limit' : size(capacity.memory_bytes)}</Fact>
          <Fact name="Owner’s load">{Math.round(capacity.load * 100)} <small>%</small></Fact><Fact name="Kind">{capacity.arch || 'not said'}</Fact>
          {capacity.tags.length > 0 && <Fact name="Tags">{capacity.tags.join(', ')}</Fact>}</>}
      </dl>
      {!capacity && <p class="inset quiet">Speed and memory are known when it has offered slots to a job of this machine.</p>}
    </Card>
  );
}

export function PeerPage({ id }: { id: string }) {
  const self = node.value, peer = peers.value?.find((one) => one.id === id);
  if (!self || !peers.value) return null;
  if (!peer) {
    return <section class="card"><Blank icon="find" title={`No peer ${brief(id)} is known`}><p>It may have left, or be in a grid that this machine is not in.</p><Command line="godwit peer list" /></Blank></section>;
  }
  const here = peer.state === 'self';
  return (
    <>
      <div class="head">
        <div class="title">
          <nav class="crumb" aria-label="Path"><a href="#/peers">Peers</a><span aria-hidden="true">/</span><code>{brief(id)}</code></nav>
          <h1>{nameOf(peer.name, id)} <PeerPill state={peer.state} /></h1>
          <div class="meta">
            <span><Icon name="map" />{peer.address ? <code>{peer.address}</code> : 'no address'}</span>
            <span><Icon name="lock" />grid <b>{peer.grid}</b></span>
            {here && <><span><Icon name="clock" />up since {moment(self.started_at)}</span><span>version {self.version}</span></>}
          </div>
        </div>
      </div>
      <div class="cols even">
        {here ? <><Lent node={self} /><div class="stack w7"><RunsHere node={self} /><Machine node={self} /></div></> : <><Offers peer={peer} /><Connection peer={peer} /></>}
      </div>
    </>
  );
}
