// A job: how far it is, what its tasks do, what they print, and why they wait.

import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, bytes, get, lines, post } from '../api';
import { clock, count, duration, moment, nameOf, percent, plural, sentence, size } from '../format';
import { note, now, scope } from '../live';
import { Blank, Card, Choice, Command, Dot, Failed, Icon, JobPill, PeerPill, Progress, Scroll } from '../parts';
import { peerLink } from '../route';
import { TaskStream } from '../stream';
import type { Job, JobEvent, JobPeer, Task, TaskPage } from '../types';

const EVERY_MS = 1_000;
const STREAM_TASKS = 600;
const MAX_LOG_CHARS = 200_000;
const MAX_EVENTS = 500;

const isOver = (job: Job): boolean => job.state !== 'running' && job.state !== 'suspended';

/** Asks again every second while it matters: `again` says whether. */
function useRounds(ask: () => Promise<boolean>, inputs: unknown[]): void {
  useEffect(() => {
    let ended = false, timer = 0;
    const round = async () => {
      let again = true;
      if (!document.hidden) again = await ask();
      if (!ended && again) timer = setTimeout(() => void round(), EVERY_MS);
    };
    void round();
    return () => { ended = true; clearTimeout(timer); };
  }, inputs);
}

function Head({ job, changed }: { job: Job; changed: () => void }) {
  const [busy, setBusy] = useState('');
  const [error, setError] = useState<ApiError | null>(null);
  const act = (what: string) => {
    setBusy(what);
    setError(null);
    post(`/v1/jobs/${job.id}/${what}`).catch((why: unknown) => { if (why instanceof ApiError) setError(why); note(why); }).finally(() => { setBusy(''); changed(); });
  };
  const manage = scope.value === 'manage' && !isOver(job);
  return (
    <>
      <div class="head">
        <div class="title">
          <nav class="crumb" aria-label="Path"><a href="#/jobs">Jobs</a><span aria-hidden="true">/</span><code>{job.id.slice(0, 8)}</code></nav>
          <h1>{job.name} <JobPill job={job} /></h1>
          <div class="meta">
            <span><Icon name="clock" />since {moment(job.submitted_at)}</span>
            {job.ended_at !== null && <span><Icon name="check" />ended {moment(job.ended_at)}{job.submitted_at !== null && `, after ${duration(job.ended_at - job.submitted_at)}`}</span>}
            <span><Icon name="map" />{job.place}, at most {plural(job.slots, 'slot')}</span>
            {job.needs && <span><Icon name="machine" />needs <code>{job.needs}</code></span>}
            {isOver(job) && job.state !== 'cancelled' && <span><Icon name="arrow" />exit code {job.exit_code}</span>}
          </div>
        </div>
        {manage && (
          <div class="acts">
            {job.state === 'running' && <button class="btn" type="button" disabled={busy !== ''} onClick={() => act('suspend')}><Icon name="pause" />{busy === 'suspend' ? 'Suspending…' : 'Suspend'}</button>}
            {job.state === 'suspended' && <button class="btn main" type="button" disabled={busy !== ''} onClick={() => act('resume')}><Icon name="launch" />Resume</button>}
            <button class="btn danger" type="button" disabled={busy !== ''} onClick={() => act('cancel')}><Icon name="x" />Cancel</button>
          </div>
        )}
      </div>
      {error && <div class="note bad" role="alert"><Icon name="bad" /><div><b>{error.message}</b> Next: {error.next}.</div></div>}
      {job.sentence && <div class="note warn" role="status"><Icon name="warn" /><div>The job {job.sentence}.</div></div>}
    </>
  );
}

function ProgressCard({ job }: { job: Job }) {
  const all = Math.max(job.threads, job.tasks);
  const key = (cls: string, word: string, n: number) => <li><i class={`swatch ${cls}`} />{word} <b>{count(n)}</b></li>;
  return (
    <section class="card" aria-labelledby="t-progress">
      <h2 class="sr" id="t-progress">Progress</h2>
      <div class="body progress">
        <div class="lead">
          <span class="big num" id="percent">{percent(job.ended, all)}</span>
          <div>
            <Progress job={job} thick />
            <ul class="key">
              {key('ended', 'Ended', job.ended)}{key('running', 'Running', job.running)}{key('track', 'Waiting', job.waiting)}{key('failed', 'Failed', job.failed)}
              {job.skipped > 0 && <li>Skipped <b>{count(job.skipped)}</b></li>}
            </ul>
          </div>
        </div>
        <dl class="facts">
          <div><dt>Tasks</dt><dd>{count(all)}</dd></div>
          <div><dt>Peers now</dt><dd>{count(job.peers.filter((peer) => peer.slots > 0).length)}</dd></div>
          <div><dt>Lost → recovered</dt><dd>{count(job.lost)} → {count(job.resumed + job.restarted)}</dd></div>
          <div><dt>Repeated</dt><dd>{count(job.retried)}</dd></div>
          <div><dt>Output</dt><dd>{size(job.stored_bytes)}</dd></div>
        </dl>
      </div>
    </section>
  );
}

const TASK_MARKS = { waiting: 'free', running: 'running', ended: 'ended', failed: 'lost', skipped: 'free' } as const;

function TaskTable({ job, peers }: { job: Job; peers: JobPeer[] }) {
  const [filter, setFilter] = useState('all');
  const [from, setFrom] = useState(0);
  const [page, setPage] = useState<TaskPage | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  useRounds(async () => {
    try {
      setPage(await get<TaskPage>(`/v1/jobs/${job.id}/tasks?filter=${filter}&from=${from}&limit=50`));
      setError(null);
    } catch (why) { if (why instanceof ApiError) setError(why); note(why); }
    return !isOver(job);
  }, [job.id, job.state, filter, from]);
  const names = new Map(peers.map((peer) => [peer.id, nameOf(peer.name, peer.id)]));
  const host = (task: Task) => (task.host ? <a href={peerLink(task.host)}>{names.get(task.host) ?? task.host.slice(0, 8)}</a> : '–');
  const lasted = (task: Task) => (task.started_at === null ? '–' : duration((task.ended_at ?? now.value / 1000) - task.started_at));
  return (
    <Card title="Tasks" id="t-tasks" cls="w12" count={page ? count(page.count) : ''} tools={
      <Choice label="Which tasks" value={filter} options={[['all', 'All'], ['running', 'Running'], ['waiting', 'Waiting'], ['done', 'Ended'], ['failed', 'Failed']]}
        choose={(value) => { setFilter(value); setFrom(0); }} />}
      foot={page && (from > 0 || page.next !== null) ? (
        <div class="acts">
          <button class="btn small" type="button" disabled={from === 0} onClick={() => setFrom(0)}>First</button>
          <button class="btn small" type="button" disabled={page.next === null} onClick={() => setFrom(page.next ?? 0)}>Next</button>
          <span class="quiet">from task {count(from)}</span>
        </div>) : undefined}>
      {error ? <Failed error={error} /> : !page ? <div class="bone mid" /> : page.tasks.length === 0 ? <div class="blank low"><p>No task is {filter === 'all' ? 'known' : filter}.</p></div> : (
        <Scroll label="Tasks">
          <thead><tr><th scope="col">Task</th><th scope="col">State</th><th scope="col">Peer</th><th scope="col" class="r">Time</th><th scope="col" class="r mid">Epoch</th><th scope="col" class="r mid">Recovered</th><th scope="col">What</th></tr></thead>
          <tbody>
            {page.tasks.map((task) => (
              <tr key={task.id}>
                <th scope="row">{task.name || (task.task ?? <span class="quiet">fork {task.id.slice(-6)}</span>)}</th>
                <td><span class="st"><Dot mark={TASK_MARKS[task.state]} />{sentence(task.state).slice(0, -1)}</span></td>
                <td>{host(task)}</td><td class="r">{lasted(task)}</td><td class="r mid">{task.epoch}</td><td class="r mid">{task.resumed + task.restarted}</td>
                <td class="what">{task.state === 'waiting' ? <code class="quiet">{task.reason}</code> : task.sentence ? task.sentence.split('\n')[0] : task.state === 'ended' ? `exit code ${task.exit_code}` : ''}</td>
              </tr>
            ))}
          </tbody>
        </Scroll>
      )}
    </Card>
  );
}

type Shown = 'stdout' | 'stderr' | 'events';

const EVENT_TEXT: Record<string, (e: JobEvent, host: (id?: string) => string) => string> = {
  accepted: () => 'The job was accepted.',
  thread_placed: (e, host) => `Thread ${e.thread} was placed at ${host(e.host)}.`,
  thread_resumed: (e, host) => `Thread ${e.thread} goes on at ${host(e.host)} from its last image.`,
  thread_restarted: (e, host) => `Thread ${e.thread} starts again at ${host(e.host)}.`,
  peer_lost: (e, host) => `${host(e.peer)} was lost with ${plural(e.threads ?? 0, 'thread')}.`,
  output_grew: (e) => `${e.stream} has ${size(e.size ?? 0)} now.`,
  input_wanted: () => 'The program waits for its standard input.',
  thread_ended: (e) => `Thread ${e.thread} ended with exit code ${e.exit_code}.${e.sentence ? ' ' + e.sentence : ''}`,
  thread_failed: (e) => `Thread ${e.thread} failed: ${e.sentence}`,
  tasks_ended: (e) => `${plural(e.ended ?? 0, 'task')} ended, ${count(e.failed ?? 0)} failed.`,
  task_repeated: (e, host) => `Task ${e.thread} failed at ${host(e.host)} and runs again.`,
  tasks_skipped: (e) => `${plural(e.skipped ?? 0, 'task')} skipped.`,
  report: (e) => `Thread ${e.thread} has sent a partial result.`,
  suspended: () => 'The job is suspended.',
  resumed: () => 'The job goes on.',
  over: (e) => `The job is over: ${e.state}, exit code ${e.exit_code}.`,
};

function useOutput(job: Job, which: Shown): string {
  const [text, setText] = useState('');
  const read = useRef({ from: 0, decoder: new TextDecoder() });
  useEffect(() => { setText(''); read.current = { from: 0, decoder: new TextDecoder() }; }, [job.id, which]);
  useRounds(async () => {
    if (which === 'events') return false;
    try {
      const reader = read.current, from = reader.from;
      const piece = await bytes(`/v1/jobs/${job.id}/output?stream=${which}&from=${from}`);
      // The rounds begin anew with each state of the job: two of them may have asked for the same piece.
      if (reader !== read.current || reader.from !== from) return !isOver(job);
      reader.from += piece.byteLength;
      const more = reader.decoder.decode(piece, { stream: true });
      if (more) setText((old) => (old + more).slice(-MAX_LOG_CHARS));
    } catch (why) { note(why); }
    return !isOver(job);
  }, [job.id, job.state, which]);
  return text;
}

function useEvents(job: Job): JobEvent[] {
  const [events, setEvents] = useState<JobEvent[]>([]);
  useEffect(() => {
    const end = new AbortController();
    let found: JobEvent[] = [], scheduled = false;
    const show = () => { scheduled = false; setEvents(found); };
    const take = (event: JobEvent) => {
      found = [...found.slice(1 - MAX_EVENTS), event];
      if (!scheduled) scheduled = true, requestAnimationFrame(show);  // at most once a frame
    };
    lines<JobEvent>(`/v1/jobs/${job.id}/events`, end.signal, take).catch((why: unknown) => { if (why instanceof ApiError) note(why); });
    return () => end.abort();
  }, [job.id]);
  return events;
}

function Output({ job }: { job: Job }) {
  const [which, setWhich] = useState<Shown>('stdout');
  const [follow, setFollow] = useState(true);
  const text = useOutput(job, which), events = useEvents(job);
  const log = useRef<HTMLPreElement>(null);
  useEffect(() => { if (follow && log.current) log.current.scrollTop = log.current.scrollHeight; }, [text, events, follow, which]);
  const names = new Map(job.peers.map((peer) => [peer.id, nameOf(peer.name, peer.id)]));
  const host = (id = '') => names.get(id) ?? id.slice(0, 8);
  const empty = which === 'events' ? events.length === 0 : text === '';
  return (
    <Card title="Output" id="t-output" cls="w7" tools={
      <><label class="check"><input type="checkbox" checked={follow} onChange={(event) => setFollow(event.currentTarget.checked)} /> Follow</label>
        <Choice label="Stream" value={which} options={[['stdout', 'stdout'], ['stderr', 'stderr'], ['events', 'Events']]} choose={setWhich} /></>}>
      {empty ? <div class="blank low"><p>{which === 'events' ? 'No event since the daemon started.' : isOver(job) ? `It printed nothing to ${which}.` : `Nothing on ${which} is final yet.`}</p></div> : (
        <pre class="log tall" tabIndex={0} ref={log} aria-label={which === 'events' ? 'Events of the job' : `${which} of all tasks, in their order`}>
          {which === 'events' ? events.map((event) => <span key={event.number}><span class="t">{clock(event.at)} </span>{EVENT_TEXT[event.event]?.(event, host) ?? event.event}{'\n'}</span>) : text}
        </pre>
      )}
    </Card>
  );
}

function Waits({ job }: { job: Job }) {
  return (
    <Card title="Why tasks wait" id="t-waits" cls="w5" count={job.waiting > 0 ? count(job.waiting) : ''} tools={<code class="quiet">godwit job explain {job.id.slice(0, 8)}</code>}>
      {job.waits.length === 0 ? <div class="blank low"><p>{isOver(job) ? 'The job is over.' : 'None waits.'}</p></div> : (
        <ul class="waits">
          {job.waits.map((wait) => (
            <li key={wait.reason + wait.detail}><span class="n">{count(wait.threads)}</span><div><b>{sentence(wait.sentence)}</b> <code>{wait.reason}</code></div>
              {wait.detail && <div class="fix">{sentence(wait.detail)}</div>}{wait.fix && <div class="fix">{sentence(wait.fix)}</div>}</li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function PeersUsed({ job }: { job: Job }) {
  const most = Math.max(1, ...job.peers.map((peer) => peer.finished));
  return (
    <Card title="Peers used" id="t-used" cls="w12" count={String(job.peers.length)}>
      {job.peers.length === 0 ? <div class="blank low"><p>No peer has worked for it yet.</p></div> : (
        <Scroll label="Peers used">
          <thead><tr><th scope="col">Peer</th><th scope="col">State</th><th scope="col" class="r">Slots now</th><th scope="col" class="r">Running</th><th scope="col">Ended</th><th scope="col" class="r mid">Lost there</th><th scope="col" class="r mid">Taken over</th></tr></thead>
          <tbody>
            {job.peers.map((peer) => (
              <tr key={peer.id}>
                <th scope="row"><span class="who"><b><a href={peerLink(peer.id)}>{nameOf(peer.name, peer.id)}</a></b></span></th><td><PeerPill state={peer.state} /></td>
                <td class="r">{peer.slots}</td><td class="r">{count(peer.running)}</td>
                <td><span class="meter"><i style={{ width: `${(peer.finished / most) * 100}%` }} /></span> {count(peer.finished)}</td>
                <td class="r mid">{count(peer.lost)}</td><td class="r mid">{count(peer.taken)}</td>
              </tr>
            ))}
          </tbody>
        </Scroll>
      )}
    </Card>
  );
}

function useJob(id: string): { job: Job | null; tasks: Task[]; error: ApiError | null; again: () => void } {
  const [job, setJob] = useState<Job | null>(null);
  const [tasks, setTasks] = useState<Task[]>([]);
  const [error, setError] = useState<ApiError | null>(null);
  const [turn, setTurn] = useState(0);
  useRounds(async () => {
    try {
      const found = await get<Job>(`/v1/jobs/${id}?brief=1`);
      const from = Math.max(0, found.array - found.waiting - STREAM_TASKS);  // those that began last: tasks begin in their order
      const page = await get<TaskPage>(`/v1/jobs/${id}/tasks?from=${from}&limit=${STREAM_TASKS}`);
      setJob(found);
      setTasks(page.tasks);
      setError(null);
      return !isOver(found);
    } catch (why) {
      if (why instanceof ApiError && why.status !== 0) setError(why);
      note(why);
      return !(why instanceof ApiError && why.status === 404);
    }
  }, [id, turn]);
  return { job, tasks, error, again: () => setTurn(turn + 1) };
}

export function JobPage({ id }: { id: string }) {
  const { job, tasks, error, again } = useJob(id);
  if (error?.status === 404) {
    return (
      <section class="card"><Blank icon="find" title={`This peer knows no job ${id.slice(0, 8)}`}>
        <p>Only the home of a job knows it. It may have been submitted at another machine: look there.</p>
        <Command line="godwit job list" /><p class="quiet"><code>{error.kind}</code> · {error.request.slice(0, 24)}… · {error.status}</p>
      </Blank></section>
    );
  }
  if (error) return <section class="card"><Failed error={error} /></section>;
  if (!job || job.id !== id) return <div class="bones" role="status" aria-busy="true" aria-label="Asking the daemon"><div class="bone h1" /><div class="bone fig" /><div class="bone big" /></div>;
  const end = isOver(job) ? job.ended_at ?? Date.now() / 1000 : now.value / 1000;
  return (
    <>
      <Head job={job} changed={again} />
      <ProgressCard job={job} />
      <div class="cols even gap-top">
        <Card title="Task stream" id="t-stream" cls="w12" hint={tasks.length < job.array ? `${count(tasks.length)} of ${count(job.array)} tasks` : ''} tools={
          <ul class="key"><li><i class="swatch running" />Running</li><li><i class="swatch ended" />Ended</li><li><i class="swatch recovered" />Recovered</li><li><i class="swatch failed" />Failed</li></ul>}>
          <TaskStream tasks={tasks} peers={job.peers} now={end} />
        </Card>
        <Output job={job} />
        <Waits job={job} />
        <TaskTable job={job} peers={job.peers} />
        <PeersUsed job={job} />
      </div>
    </>
  );
}
