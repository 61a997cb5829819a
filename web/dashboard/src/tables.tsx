// Lists of jobs and peers, on the dashboard and on pages of their own.

import { useState } from 'preact/hooks';
import { brief, count, duration, moment, nameOf, percent, plural, roundTrip, size } from './format';
import { Cells, Command, Blank, Dot, JobPill, PeerPill, Progress, Scroll } from './parts';
import { jobLink, peerLink } from './route';
import type { JobSummary, Peer } from './types';

export function NoJobs() {
  return (
    <Blank icon="jobs" title="No jobs yet">
      <p>Run a program from a terminal; it appears here at once.</p>
      <Command line="godwit run prog.c --workers 8" />
    </Blank>
  );
}

export function JobList({ jobs }: { jobs: JobSummary[] }) {
  return (
    <ul class="jobs">
      {jobs.map((job) => {
        const all = Math.max(job.threads, job.tasks);
        const over = job.state !== 'running' && job.state !== 'suspended';
        return (
          <li key={job.id}>
            <div class="top">
              <a class="cut" href={jobLink(job.id)}>{job.name}</a><code class="quiet">{job.id.slice(0, 4)}</code>
              <JobPill job={job} />
              <span class="pc">{percent(job.ended, all)}</span>
            </div>
            <Progress job={job} />
            <div class="sub">
              <span>{count(job.ended)} of {plural(all, 'task')}</span>
              {over ? <span>ended {moment(job.ended_at)}</span> : <span>{count(job.running)} running</span>}
              {job.failed > 0 && <span class="flag"><Dot mark="lost" />{count(job.failed)} failed</span>}
              {job.lost > 0 && <span class="flag"><Dot mark="recovered" />{count(job.resumed + job.restarted)} recovered</span>}
            </div>
          </li>
        );
      })}
    </ul>
  );
}

type Column = 'name' | 'slots' | 'distance';
const ORDERS: Record<Column, (a: Peer, b: Peer) => number> = {
  name: (a, b) => nameOf(a.name, a.id).localeCompare(nameOf(b.name, b.id)),
  slots: (a, b) => b.free_slots - a.free_slots,
  distance: (a, b) => (a.distance_us ?? Infinity) - (b.distance_us ?? Infinity),
};

export function PeerTable({ peers }: { peers: Peer[] }) {
  const [column, setColumn] = useState<Column>('name');
  const head = (name: Column, text: string, cls = '') => (
    <th scope="col" class={cls} {...(column === name ? { 'aria-sort': 'ascending' as const } : {})}>
      <button type="button" onClick={() => setColumn(name)}>{text}</button>
    </th>
  );
  return (
    <Scroll label="Peers">
      <thead>
        <tr>
          {head('name', 'Peer')}<th scope="col">State</th>{head('slots', 'Slots')}<th scope="col" class="r wide">Speed</th>
          <th scope="col" class="mid">Owner’s load</th>{head('distance', 'Round trip', 'r')}<th scope="col" class="mid">Way</th>
          <th scope="col" class="r wide">Received</th><th scope="col" class="r wide">Sent</th><th scope="col" class="wide">Grid</th>
        </tr>
      </thead>
      <tbody>
        {[...peers].sort(ORDERS[column]).map((peer) => (
          <tr key={peer.id} class={peer.state === 'silent' ? 'dim' : ''}>
            <th scope="row"><span class="who"><b><a href={peerLink(peer.id)}>{nameOf(peer.name, peer.id)}</a></b><code>{brief(peer.id)}</code></span></th>
            <td><PeerPill state={peer.state} /></td>
            <td><Cells used={peer.slots - peer.free_slots} all={peer.slots} /> <span class="quiet">{peer.slots - peer.free_slots} of {peer.slots}</span></td>
            <td class="r wide">{peer.capacity && peer.capacity.speed > 0 ? peer.capacity.speed.toFixed(2) : '–'}</td>
            <td class="mid">{peer.capacity ? `${Math.round(peer.capacity.load * 100)} %` : '–'}</td>
            <td class="r">{peer.state === 'self' ? '–' : roundTrip(peer.distance_us)}</td>
            <td class="mid">{peer.way ?? '–'}</td>
            <td class="r wide">{peer.way ? size(peer.bytes_in) : '–'}</td>
            <td class="r wide">{peer.way ? size(peer.bytes_out) : '–'}</td>
            <td class="wide">{peer.grid}</td>
          </tr>
        ))}
      </tbody>
    </Scroll>
  );
}

export const heard = (peer: Peer): string => (peer.heard_ms === null ? 'never' : `${duration(peer.heard_ms / 1000)} ago`);
