// Numbers and times in words.

const whole = new Intl.NumberFormat('en', { useGrouping: true });
export const count = (n: number): string => whole.format(n).replaceAll(',', '\u202f');
export const plural = (n: number, word: string): string => `${count(n)} ${word}${n === 1 ? '' : 's'}`;
export const brief = (id: string): string => id.slice(0, 8);
export const nameOf = (name: string, id: string): string => name || brief(id);

export function size(n: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let at = 0;
  while (n >= 1024 && at < units.length - 1) n /= 1024, ++at;
  return `${at === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)} ${units[at]}`;
}

export function duration(seconds: number): string {
  if (seconds < 10) return `${Math.max(0, seconds).toFixed(1)} s`;
  const s = Math.round(seconds);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

export function roundTrip(us: number | null): string {
  if (us === null) return '–';
  const ms = us / 1000;
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`;
}

export const clock = (second: number): string => new Date(second * 1000).toLocaleTimeString('en-GB');
export function moment(second: number | null): string {
  if (second === null) return 'unknown';
  const then = new Date(second * 1000);
  const today = new Date().toDateString() === then.toDateString();
  return today ? clock(second) : `${then.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })}, ${clock(second)}`;
}
export const percent = (part: number, of: number): string => (of === 0 ? '0 %' : `${Math.floor((part / of) * 100)} %`);
export const sentence = (text: string): string => (text ? text[0]!.toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.') : '');
