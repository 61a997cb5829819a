// What the daemon says now, asked at a bounded rate, and what changed since it was asked last.

import { batch, signal } from '@preact/signals';
import { ApiError, get, hasToken } from './api';
import { nameOf, plural } from './format';
import type { Hosted, JobSummary, Node, Peer, Scope } from './types';

const EVERY_MS = 2_000;
const SILENT_AFTER_MS = 5_000;
const MAX_HAPPENED = 50;
const MAX_HISTORY = 60;

export type Mark = 'running' | 'ended' | 'lost' | 'recovered' | 'free' | 'moved';
export interface Happened { at: number; mark: Mark; who: string; text: string; link?: string }

export const node = signal<Node | null>(null);
export const peers = signal<Peer[] | null>(null);
export const jobs = signal<JobSummary[] | null>(null);
export const hosted = signal<Hosted[]>([]);
export const scope = signal<Scope>('watch');
export const failure = signal<ApiError | null>(null);
export const needsToken = signal<ApiError | 'none' | null>(null);
export const silentSince = signal<number | null>(null);  // time of the last answer, while none comes
export const nextTry = signal(0);
export const happened = signal<Happened[]>([]);
export const history = signal<{ slots: number[]; running: number[]; peers: number[] }>({ slots: [], running: [], peers: [] });
export const now = signal(Date.now());

/** A peer in several common grids is listed once for each; here it is one. */
export const distinct = (list: Peer[]): Peer[] => [...new Map(list.map((peer) => [peer.id, peer])).values()];
export const isHere = (peer: Peer): boolean => peer.state === 'self' || peer.state === 'alive';

let lastAnswer = Date.now();
let timer = 0;
let asking = false;

function changesOfPeers(before: Peer[], after: Peer[], at: number): Happened[] {
  const old = new Map(before.map((peer) => [peer.id, peer]));
  const found: Happened[] = [];
  for (const peer of after) {
    const was = old.get(peer.id)?.state;
    const who = nameOf(peer.name, peer.id);
    const link = `#/peers/${peer.id}`;
    if (was === peer.state || peer.state === 'self') continue;
    if (peer.state === 'alive' && was === undefined) found.push({ at, mark: 'free', who, link, text: ` joined with ${plural(peer.slots, 'slot')}.` });
    else if (peer.state === 'alive') found.push({ at, mark: 'free', who, link, text: ' answers again.' });
    else if (peer.state === 'suspected') found.push({ at, mark: 'lost', who, link, text: ' does not answer.' });
    else if (was !== undefined) found.push({ at, mark: 'lost', who, link, text: ' is gone.' });
  }
  return found;
}

function changesOfJobs(before: JobSummary[], after: JobSummary[], at: number): Happened[] {
  const old = new Map(before.map((job) => [job.id, job]));
  const found: Happened[] = [];
  for (const job of after) {
    const was = old.get(job.id);
    const say = (mark: Mark, text: string) => found.push({ at, mark, who: job.name, text, link: `#/jobs/${job.id}` });
    if (!was) say('running', ` was submitted with ${plural(job.tasks, 'task')}.`);
    else {
      if (job.lost > was.lost) say('lost', ` lost the host of ${plural(job.lost - was.lost, 'thread')}.`);
      const back = job.resumed + job.restarted - was.resumed - was.restarted;
      if (back > 0) say('recovered', `: ${plural(back, 'thread')} ${back === 1 ? 'goes' : 'go'} on elsewhere.`);
      if (was.state === 'running' && job.state === 'suspended') say('moved', ' was suspended.');
      if (was.state === 'suspended' && job.state === 'running') say('running', ' was resumed.');
    }
    if (job.state !== was?.state && job.state === 'done') say('ended', ' has ended.');
    if (job.state !== was?.state && (job.state === 'failed' || job.state === 'cancelled')) say('lost', job.state === 'failed' ? ' has failed.' : ' was cancelled.');
  }
  return found;
}

/** What the jobs tell of the time before the page was opened. */
function before(list: JobSummary[]): Happened[] {
  const found: Happened[] = [];
  for (const job of list.slice(0, MAX_HAPPENED)) {
    const link = `#/jobs/${job.id}`;
    if (job.submitted_at !== null) found.push({ at: job.submitted_at, mark: 'running', who: job.name, link, text: ` was submitted with ${plural(job.tasks, 'task')}.` });
    if (job.ended_at !== null) found.push({ at: job.ended_at, mark: job.state === 'done' ? 'ended' : 'lost', who: job.name, link, text: job.state === 'done' ? ' has ended.' : job.state === 'failed' ? ' has failed.' : ' was cancelled.' });
  }
  return found.sort((a, b) => b.at - a.at);
}

const grown = (list: number[], value: number): number[] => [...list.slice(1 - MAX_HISTORY), value];

async function ask(): Promise<void> {
  const [n, p, j, h] = await Promise.all([
    get<Node>('/v1/node'), get<{ peers: Peer[] }>('/v1/peers'), get<{ jobs: JobSummary[] }>('/v1/jobs'), get<{ hosted: Hosted[] }>('/v1/hosted'),
  ]);
  const at = Date.now() / 1000;
  const all = distinct(p.peers);
  const changed = [
    ...(peers.value ? changesOfPeers(peers.value, all, at) : []), ...(jobs.value ? changesOfJobs(jobs.value, j.jobs, at) : []),
  ].reverse().concat(jobs.value ? [] : before(j.jobs));
  const here = all.filter(isHere);
  batch(() => {
    node.value = n;
    peers.value = all;
    jobs.value = j.jobs;
    hosted.value = h.hosted;
    if (changed.length > 0) happened.value = [...changed, ...happened.value].slice(0, MAX_HAPPENED);
    history.value = {
      slots: grown(history.value.slots, here.reduce((sum, one) => sum + one.slots - one.free_slots, 0)),
      running: grown(history.value.running, j.jobs.reduce((sum, one) => sum + one.running, 0)),
      peers: grown(history.value.peers, here.length),
    };
    failure.value = null;
    silentSince.value = null;
  });
  lastAnswer = Date.now();
}

async function round(): Promise<void> {
  clearTimeout(timer);
  if (asking) return;
  asking = true;
  try {
    if (!document.hidden) await ask();
  } catch (why) {
    note(why);
  }
  asking = false;
  if (needsToken.value) return;
  nextTry.value = Date.now() + EVERY_MS;
  timer = setTimeout(() => void round(), EVERY_MS);
}

/** Takes an error of any request: a token that is refused ends the page, silence is shown. */
export function note(why: unknown): void {
  if (!(why instanceof ApiError)) throw why;
  if (why.status === 401) needsToken.value = why;
  else if (why.status !== 0) failure.value = why;
  else if (Date.now() - lastAnswer >= SILENT_AFTER_MS || !node.value) silentSince.value = lastAnswer;
}

export const askNow = (): void => void round();

export async function start(): Promise<void> {
  if (!hasToken()) return void (needsToken.value = 'none');
  setInterval(() => { if (!document.hidden) now.value = Date.now(); }, 1_000);
  document.addEventListener('visibilitychange', () => { if (!document.hidden) askNow(); });
  get<{ scope: Scope }>('/v1/web').then((found) => { scope.value = found.scope; }, note);
  await round();
}
