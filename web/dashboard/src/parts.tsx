// Parts that several pages are made of. Their look is in components.css.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError } from './api';
import { askNow, type Mark } from './live';
import { clock } from './format';
import type { JobState, JobSummary, PeerState } from './types';

export const Icon = ({ name, cls = '' }: { name: string; cls?: string }) => (
  <svg class={`i ${cls}`} aria-hidden="true"><use href={`#i-${name}`} /></svg>
);

export function Card(props: {
  title: string; id: string; cls?: string; count?: string; hint?: string; tools?: ComponentChildren; children: ComponentChildren; foot?: ComponentChildren;
}) {
  return (
    <section class={`card ${props.cls ?? ''}`} aria-labelledby={props.id}>
      <header>
        <h2 id={props.id}>{props.title}</h2>
        {props.count !== undefined && <span class="count">{props.count}</span>}
        {props.hint && <p>{props.hint}</p>}
        <span class="space" />
        {props.tools}
      </header>
      {props.children}
      {props.foot && <footer>{props.foot}</footer>}
    </section>
  );
}

/** A choice among few, as buttons side by side. */
export function Choice<T extends string>(props: { label: string; value: T; options: [T, string][]; choose: (value: T) => void }) {
  return (
    <div class="group" role="group" aria-label={props.label}>
      {props.options.map(([value, text]) => (
        <button key={value} class="btn small" type="button" aria-pressed={value === props.value} onClick={() => props.choose(value)}>{text}</button>
      ))}
    </div>
  );
}

const JOB_PILLS: Record<JobState, [string, string, string]> = {
  running: ['run', 'launch', 'Running'], done: ['ok', 'check', 'Done'], failed: ['bad', 'bad', 'Failed'], cancelled: ['', 'x', 'Cancelled'],
  suspended: ['warn', 'pause', 'Suspended'],
};
export function JobPill({ job }: { job: JobSummary }) {
  const waits = job.state === 'running' && job.running === 0 && job.waiting > 0;
  const [cls, icon, word] = waits ? ['warn', 'clock', 'Waits'] : JOB_PILLS[job.state];
  return <span class={`pill ${cls}`}><Icon name={icon!} />{word}</span>;
}

const PEER_PILLS: Record<PeerState, [string, string, string]> = {
  self: ['ok', 'home', 'This peer'], alive: ['ok', 'check', 'Alive'], suspected: ['warn', 'warn', 'Suspected'], silent: ['', 'off', 'Silent'],
};
export function PeerPill({ state }: { state: PeerState }) {
  const [cls, icon, word] = PEER_PILLS[state];
  return <span class={`pill ${cls}`}><Icon name={icon} />{word}</span>;
}

/** The bar of a job: ended, running, failed, and the track of what waits. */
export function Progress({ job, thick = false }: { job: JobSummary; thick?: boolean }) {
  const all = Math.max(job.threads, job.tasks, 1);
  const part = (cls: string, n: number) => n > 0 && <i class={cls} style={{ width: `${(n / all) * 100}%` }} />;
  return (
    <div class={`prog ${thick ? 'thick' : ''}`} role="img" aria-label={`${job.ended} ended, ${job.running} running, ${job.failed} failed, of ${all}`}>
      {part('ended', job.ended)}{part('running', job.running)}{part('failed', job.failed)}
    </div>
  );
}

export function Cells({ used, all }: { used: number; all: number }) {
  const shown = Math.min(all, 16);
  const filled = all === 0 ? 0 : Math.round((used / all) * shown);
  return (
    <span class="cells" role="img" aria-label={`${used} of ${all} slots in use`}>
      {Array.from({ length: shown }, (_, at) => <i key={at} class={at < filled ? 'r' : ''} />)}
    </span>
  );
}

/** The mark of a state in lists: the same shapes as on the map. */
export function Dot({ mark }: { mark: Mark }) {
  return (
    <svg viewBox="0 0 12 12" aria-hidden="true">
      {mark === 'running' && <circle cx="6" cy="6" r="4" class="t-running" />}
      {mark === 'ended' && <circle cx="6" cy="6" r="4" class="t-ended" />}
      {mark === 'free' && <circle cx="6" cy="6" r="3.1" class="t-free" />}
      {mark === 'recovered' && <rect x="2" y="2" width="8" height="8" rx=".8" class="t-recovered" />}
      {mark === 'lost' && <path d="M2.8 2.8l6.4 6.4M9.2 2.8l-6.4 6.4" class="cross" />}
      {mark === 'moved' && <><path d="M1 10Q3 3 9 3" class="flight" /><circle cx="9" cy="3.4" r="2.6" class="t-moved" /></>}
    </svg>
  );
}

export function Spark({ values }: { values: number[] }) {
  if (values.length < 3) return null;
  const most = Math.max(...values, 1);
  const points = values.map((value, at) => `${((at / (values.length - 1)) * 76).toFixed(1)} ${(26 - (value / most) * 24).toFixed(1)}`);
  const line = `M${points.join('L')}`;
  return <svg class="spark" viewBox="0 0 76 28" preserveAspectRatio="none" aria-hidden="true"><path class="a" d={`${line}V28H0z`} /><path d={line} /></svg>;
}

export function Command({ line }: { line: string }) {
  const [copied, setCopied] = useState(false);
  const copy = () => void navigator.clipboard.writeText(line).then(() => { setCopied(true); setTimeout(() => setCopied(false), 1500); });
  return (
    <div class="cmd">
      <code tabIndex={0}>{line}</code>
      <button class="btn ghost icon small" type="button" aria-label={copied ? 'Copied' : 'Copy the line'} onClick={copy}><Icon name={copied ? 'check' : 'copy'} /></button>
    </div>
  );
}

export function Blank(props: { icon: string; title: string; children: ComponentChildren }) {
  return <div class="blank"><Icon name={props.icon} cls="hero" /><h2>{props.title}</h2>{props.children}</div>;
}

/** In the card whose request failed; the others go on. */
export function Failed({ error }: { error: ApiError }) {
  return (
    <div class="blank tall" role="alert">
      <Icon name="bad" cls="hero bad-ink" />
      <h2>{error.message}</h2>
      {error.next && <p>Next: {error.next}.</p>}
      <div class="acts"><button class="btn" type="button" onClick={askNow}><Icon name="again" />Try again</button></div>
      <p class="quiet"><code>{error.kind}</code> · {error.request} · {error.status || 'no answer'} · {clock(Date.now() / 1000)}</p>
    </div>
  );
}

export const Scroll = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <div class="scroll" tabIndex={0} role="group" aria-label={`Table: ${label}`}><table>{children}</table></div>
);
