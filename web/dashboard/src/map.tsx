// The grid as this peer sees it: the distance from the middle is the round trip, on a logarithmic scale. Directions mean nothing: peers are
// spread over the circle in the order of their ids, so that each keeps its place. Dots are slots, filled ones in use.

import { count, nameOf, roundTrip } from './format';
import { isHere } from './live';
import { useSize } from './size';
import type { Peer } from './types';

const RINGS_MS = [1, 5, 20, 50, 100];
const FARTHEST_MS = 150;
const MAX_DOTS = 16;
const MAX_NAMED = 60;  // of more peers, only this one, the selected one and those in trouble have names
const MAX_WITH_SLOTS = 150;  // of more peers, each is one dot
const PUSHES = 1_500_000;  // pairs that are looked at when peers are placed; more would be felt
const GOLDEN = 2.399963;  // radians: neighbours in the order are far apart on the circle

interface Placed { peer: Peer; x: number; y: number; r: number; cols: number; rows: number; dots: number; used: number; name: string; label: string }

const radius = (ms: number): number => Math.min(1, Math.log(1 + ms / 0.15) / Math.log(1 + FARTHEST_MS / 0.15));

function place(peers: Peer[], selected: string, width: number, height: number, small: boolean): Placed[] {
  const dot = small ? 8 : 10;
  const kx = width / 2 - (small ? 30 : 70), ky = height / 2 - 48;
  const others = peers.filter((peer) => peer.state !== 'self').sort((a, b) => (a.id < b.id ? -1 : 1));
  const order = new Map(others.map((peer, at) => [peer.id, at]));
  const named = (peer: Peer) => peers.length <= MAX_NAMED || peer.state !== 'alive' || peer.id === selected;
  const placed = peers.map((peer): Placed => {
    const dots = peers.length > MAX_WITH_SLOTS ? 0 : Math.min(peer.slots, MAX_DOTS);
    const cols = dots <= 2 ? Math.max(1, dots) : dots <= 4 ? 2 : dots <= 9 ? 3 : 4, rows = Math.max(1, Math.ceil(dots / cols));
    const angle = (order.get(peer.id) ?? 0) * GOLDEN + 0.6;
    const far = peer.state === 'self' ? 0 : radius(peer.distance_us === null ? FARTHEST_MS : peer.distance_us / 1000);
    const used = peer.slots === 0 ? 0 : Math.round(((peer.slots - peer.free_slots) / peer.slots) * dots);
    return {
      peer, cols, rows, dots, used, r: peers.length > MAX_WITH_SLOTS ? 4 : Math.hypot(cols * dot, rows * dot) / 2 + 2, x: width / 2 + Math.cos(angle) * far * kx,
      y: height / 2 - Math.sin(angle) * far * ky, name: nameOf(peer.name, peer.id), label: !named(peer) ? '' : nameOf(peer.name, peer.id) + (peer.state === 'self' ? ' (this peer)' : ''),
    };
  });
  // Peers on one machine are all in the middle: push apart what would overlap, but never this peer.
  const rounds = Math.min(80, Math.ceil(PUSHES / placed.length ** 2));
  for (let round = 0; round < rounds; ++round)
    for (const a of placed) for (const b of placed) {
      if (a === b) continue;
      const ox = Math.max(a.r, a.label.length * 3.1) + Math.max(b.r, b.label.length * 3.1) + 8 - Math.abs(a.x - b.x);
      const oy = a.r + b.r + (a.label || b.label ? 24 : 4) - Math.abs(a.y - b.y);
      if (ox <= 0 || oy <= 0) continue;
      const fixed = a.peer.state === 'self' ? 0 : b.peer.state === 'self' ? 1 : 0.5;
      if (ox * 0.7 < oy) { const by = (Math.sign(a.x - b.x) || 1) * ox * 0.5; a.x += by * fixed; b.x -= by * (1 - fixed); }
      else { const by = (Math.sign(a.y - b.y) || 1) * oy * 0.5; a.y += by * fixed; b.y -= by * (1 - fixed); }
    }
  for (const one of placed) {
    const half = Math.max(one.r, one.label.length * 3.1) + 6;
    one.x = Math.min(width - half, Math.max(half, one.x));
    one.y = Math.min(height - one.r - 56, Math.max(one.r + 8, one.y));
  }
  return placed;
}

function Glyph(props: { at: Placed; selected: boolean; first: boolean; dot: number; select: () => void; move: (key: string) => void }) {
  const { at } = props;
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); props.select(); }
    if (event.key.startsWith('Arrow')) { event.preventDefault(); props.move(event.key); }
  };
  return (
    <g class={`peer ${at.peer.state} ${props.selected ? 'sel' : ''}`} data-id={at.peer.id} tabIndex={props.first ? 0 : -1} role="button"
      aria-label={`${at.label || at.name}, ${at.peer.state}, ${at.peer.slots - at.peer.free_slots} of ${at.peer.slots} slots in use, ${roundTrip(at.peer.distance_us)} away`}
      aria-pressed={props.selected} onClick={props.select} onKeyDown={onKey}>
      <circle class="halo" cx={at.x} cy={at.y} r={at.r + 4} />
      <circle class={`shape ${at.dots === 0 && at.peer.free_slots < at.peer.slots ? 'busy' : ''}`} cx={at.x} cy={at.y} r={at.r} />
      {Array.from({ length: at.dots }, (_, i) => (
        <circle key={i} class={i < at.used ? 't-running' : 't-free'} r={i < at.used ? props.dot * 0.38 : props.dot * 0.3}
          cx={at.x + ((i % at.cols) - (at.cols - 1) / 2) * props.dot} cy={at.y + (Math.floor(i / at.cols) - (at.rows - 1) / 2) * props.dot} />
      ))}
      <text x={at.x} y={at.y + at.r + 13}>{at.label}</text>
      {at.peer.state === 'suspected' && <text class="st" x={at.x} y={at.y + at.r + 26}>no answer</text>}
    </g>
  );
}

export function GridMap(props: { peers: Peer[]; selected: string; select: (id: string) => void }) {
  const here = props.peers.filter(isHere);
  const [host, width, height] = useSize();
  const small = width < 560;
  const placed = width === 0 ? [] : place(props.peers, props.selected, width, height, small);
  const self = placed.find((one) => one.peer.state === 'self');
  const kx = width / 2 - (small ? 30 : 70), ky = height / 2 - 48;
  // To the nearest peer in that direction.
  const move = (from: Placed, key: string) => {
    const [dx, dy] = key === 'ArrowLeft' ? [-1, 0] : key === 'ArrowRight' ? [1, 0] : key === 'ArrowUp' ? [0, -1] : [0, 1];
    const along = (to: Placed) => (to.x - from.x) * dx! + (to.y - from.y) * dy!;
    const next = placed.filter((to) => to !== from && along(to) > 0).sort((a, b) => Math.hypot(a.x - from.x, a.y - from.y) - Math.hypot(b.x - from.x, b.y - from.y))[0];
    if (!next) return;
    props.select(next.peer.id);
    requestAnimationFrame(() => host.current?.querySelector<SVGGElement>(`[data-id="${next.peer.id}"]`)?.focus());
  };
  const anySelected = placed.some((one) => one.peer.id === props.selected);
  return (
    <div class="map" ref={host}>
      <svg class="plane" viewBox={`0 0 ${Math.max(width, 1)} ${Math.max(height, 1)}`} role="group"
        aria-label={`Map of ${props.peers.length} peers. Arrow keys go from peer to peer, Enter selects. The table below has the same content.`}>
        <g aria-hidden="true">
          {width > 0 && [...RINGS_MS].reverse().map((ms, at) => (
            <g key={ms}><ellipse class="zone" cx={width / 2} cy={height / 2} rx={radius(ms) * kx} ry={radius(ms) * ky} />
              <ellipse class={`ring ${at % 2 ? 'even' : ''}`} cx={width / 2} cy={height / 2} rx={radius(ms) * kx} ry={radius(ms) * ky} /></g>
          ))}
          {self && placed.filter((one) => one.peer.way).map((one) => (
            <line key={one.peer.id} class={`link ${one.peer.way}`} x1={self.x} y1={self.y} x2={one.x} y2={one.y} />
          ))}
        </g>
        <g aria-hidden="true">
          {width > 0 && RINGS_MS.map((ms) => (
            <text key={ms} class="ringlabel" x={width / 2 + Math.cos(1.25) * radius(ms) * kx} y={height / 2 - Math.sin(1.25) * radius(ms) * ky + 4}>{ms} ms</text>
          ))}
        </g>
        {placed.map((one) => (
          <Glyph key={one.peer.id} at={one} dot={small ? 8 : 10} selected={one.peer.id === props.selected}
            first={anySelected ? one.peer.id === props.selected : one === self} select={() => props.select(one.peer.id)} move={(key) => move(one, key)} />
        ))}
      </svg>
      <div class="over">
        <ul class="key" aria-label="Slots">
          <li><svg viewBox="0 0 12 12"><circle cx="6" cy="6" r="4" class="t-running" /></svg>In use <b>{count(here.reduce((sum, one) => sum + one.slots - one.free_slots, 0))}</b></li>
          <li><svg viewBox="0 0 12 12"><circle cx="6" cy="6" r="3.1" class="t-free" /></svg>Free <b>{count(here.reduce((sum, one) => sum + one.free_slots, 0))}</b></li>
        </ul>
      </div>
    </div>
  );
}
