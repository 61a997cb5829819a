// The task stream: lanes in groups by peer, time to the right. A peer has as many lanes as it ran tasks at the same time.

import { useState } from 'preact/hooks';
import { clock, duration, nameOf } from './format';
import { useSize } from './size';
import type { JobPeer, Task } from './types';

const LANE = 14, GAP = 2, GROUP_GAP = 10, LEFT = 112, TOP = 22;
const MAX_LANES = 120;

interface Segment { task: Task; lane: number; from: number; to: number }
interface Group { name: string; first: number; lanes: number }

/** Packs the runs of each host into as few lanes as have no overlap. */
export function pack(tasks: Task[], peers: JobPeer[], now: number): { segments: Segment[]; groups: Group[]; lanes: number } {
  const byHost = new Map<string, Task[]>();
  for (const task of tasks) if (task.host && task.started_at !== null) byHost.set(task.host, [...(byHost.get(task.host) ?? []), task]);
  // Machines of the same name are told apart by their ids.
  const alone = (name: string) => peers.filter((peer) => peer.name === name).length === 1;
  const names = new Map(peers.map((peer) => [peer.id, alone(peer.name) ? nameOf(peer.name, peer.id) : `${peer.name} ${peer.id.slice(0, 4)}`]));
  const segments: Segment[] = [], groups: Group[] = [];
  let lanes = 0;
  for (const host of [...byHost.keys()].sort((a, b) => (names.get(a) ?? a).localeCompare(names.get(b) ?? b))) {
    const ends: number[] = [];
    for (const task of byHost.get(host)!.sort((a, b) => a.started_at! - b.started_at!)) {
      const from = task.started_at!, to = Math.max(from, task.ended_at ?? now);
      const free = ends.findIndex((end) => end <= from + 0.001);
      const at = free < 0 ? ends.length : free;
      ends[at] = to;
      if (lanes + at < MAX_LANES) segments.push({ task, lane: lanes + at, from, to });
    }
    groups.push({ name: names.get(host) ?? nameOf('', host), first: lanes, lanes: ends.length });
    lanes += ends.length;
  }
  return { segments, groups, lanes: Math.min(lanes, MAX_LANES) };
}

const stateOf = (task: Task): string =>
  task.state === 'failed' ? 'lost' : task.resumed + task.restarted > 0 ? 'recovered' : task.state === 'running' ? 'running' : 'ended';
const nameOfTask = (task: Task): string => task.name || (task.task === null ? `fork ${task.id.slice(-4)}` : `task ${task.task}`);

const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400];

export function TaskStream({ tasks, peers, now }: { tasks: Task[]; peers: JobPeer[]; now: number }) {
  const [host, width] = useSize();
  const [selected, setSelected] = useState('');
  const { segments, groups, lanes } = pack(tasks, peers, now);
  if (segments.length === 0) return <div class="stream" ref={host}><div class="blank low"><p>No task has begun yet.</p></div></div>;
  const begin = Math.min(...segments.map((one) => one.from)), end = Math.max(...segments.map((one) => one.to), begin + 0.1);
  const left = width < 560 ? 76 : LEFT;
  const x = (at: number) => left + ((at - begin) / (end - begin)) * (width - left - 16);
  const y = (lane: number) => TOP + lane * (LANE + GAP) + groups.filter((group) => group.first <= lane && group.first > 0).length * GROUP_GAP;
  const height = y(lanes - 1) + LANE + 12;
  const step = STEPS.find((one) => (end - begin) / one <= Math.max(2, width / 110)) ?? 86400 * 7;
  const ticks = Array.from({ length: Math.floor((end - begin) / step) + 1 }, (_, at) => at * step);
  const chosen = segments.find((one) => one.task.id === selected);
  // Left and right along a lane, up and down between lanes.
  const onKey = (event: KeyboardEvent) => {
    const from = chosen ?? segments[0]!;
    const middle = (from.from + from.to) / 2;
    const lane = (to: number) => segments.filter((one) => one.lane === to).sort((a, b) => Math.abs((a.from + a.to) / 2 - middle) - Math.abs((b.from + b.to) / 2 - middle))[0];
    const along = segments.filter((one) => one.lane === from.lane).sort((a, b) => a.from - b.from);
    const at = along.indexOf(from);
    const next = event.key === 'ArrowRight' ? along[at + 1] : event.key === 'ArrowLeft' ? along[at - 1] : event.key === 'ArrowDown' ? lane(from.lane + 1)
      : event.key === 'ArrowUp' ? lane(from.lane - 1) : undefined;
    if (!event.key.startsWith('Arrow')) return;
    event.preventDefault();
    if (next ?? !chosen) setSelected((next ?? from).task.id);
  };
  const say = (one: Segment) => `${nameOfTask(one.task)}, ${one.task.state}, ${duration(one.to - one.from)}, from ${clock(one.from)}` +
    (one.task.resumed > 0 ? `, resumed ${one.task.resumed} times` : '') + (one.task.restarted > 0 ? `, restarted ${one.task.restarted} times` : '');
  return (
    <div class="stream" ref={host}>
      <div class="plot" tabIndex={0} role="application" aria-roledescription="task stream" onKeyDown={onKey}
        aria-label={`${segments.length} tasks on ${groups.length} peers over ${duration(end - begin)}. Arrow keys go from task to task. The table of tasks has the same content.`}>
        {width > 0 && (
          <svg viewBox={`0 0 ${width} ${height}`} height={height} aria-hidden="true">
            {groups.flatMap((group) => Array.from({ length: Math.max(0, Math.min(group.lanes, MAX_LANES - group.first)) }, (_, at) => (
              <g key={`${group.first}-${at}`}>
                <rect class="lane" x={left} y={y(group.first + at)} width={width - left - 16} height={LANE} rx={2} />
                <text class="slot" x={left - 6} y={y(group.first + at) + 11}>{at + 1}</text>
                {at === 0 && <text class="pname" x={16} y={y(group.first) + 11}>{group.name.slice(0, width < 560 ? 7 : 12)}</text>}
              </g>
            )))}
            {ticks.map((at) => <g key={at}><line class="axis" x1={x(begin + at)} x2={x(begin + at)} y1={TOP - 4} y2={height - 8} /><text class="tick" x={x(begin + at)} y={13}>{at < 10 && step < 1 ? at.toFixed(1) : Math.round(at)} s</text></g>)}
            {segments.map((one) => {
              const wide = Math.max(1.5, x(one.to) - x(one.from));
              return (
                <g key={one.task.id} class={chosen && chosen !== one ? 'other' : ''} onClick={() => setSelected(one.task.id === selected ? '' : one.task.id)}>
                  <rect class={`seg t-${stateOf(one.task)}`} x={x(one.from)} y={y(one.lane)} width={wide} height={LANE} rx={2} />
                  {wide > 30 && one.task.task !== null && <text class={`n n-${stateOf(one.task)}`} x={x(one.from) + 5} y={y(one.lane) + 11}>{one.task.task}</text>}
                </g>
              );
            })}
            {chosen && <rect class="selbox" x={x(chosen.from) - 1} y={y(chosen.lane) - 1} width={Math.max(4, x(chosen.to) - x(chosen.from) + 2)} height={LANE + 2} rx={3} />}
          </svg>
        )}
      </div>
      <p class="picked" aria-live="polite">{chosen ? say(chosen) : 'Select a task to see when it ran.'}</p>
    </div>
  );
}
