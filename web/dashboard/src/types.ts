// What the API answers, as far as the pages show it; docs/api/openapi.yaml.

export interface Capacity { speed: number; memory_bytes: number; disk_bytes: number; load: number; uptime_s: number; arch: string; tags: string[] }
export interface Share {
  cores: number; memory_bytes: number; cpu_percent: number; nice: number; bandwidth_bytes_per_s: number; for: string; when: string; tags: string[];
}
export interface Storage {
  finished_jobs: number; finished_bytes: number; free_bytes: number; full: boolean; lent_threads: number; lent_bytes: number; lent_limit: number;
  cache_bytes: number; cache_limit: number;
}
export interface Node {
  id: string; name: string; boot: number; version: string; addresses: string[]; slots: number; free_slots: number; relayed_for_others: number;
  started_at: number; state: string; share: Share; not_lending: string; workers_fail: string; capacity: Capacity; reach: string;
  dialled_back: number; not_dialled_back: number; anchors: string[]; load: number; cores: number; workers: number; storage: Storage;
}
export type PeerState = 'self' | 'alive' | 'suspected' | 'silent';
export interface Peer {
  id: string; name: string; grid: string; address: string; state: PeerState; class: string; slots: number; free_slots: number;
  capacity: Capacity | null; network_bytes_per_s: number | null; distance_us: number | null; heard_ms: number | null; way: string | null;
  bytes_in: number; bytes_out: number;
}
export type JobState = 'running' | 'done' | 'failed' | 'cancelled' | 'suspended';
export interface JobSummary {
  id: string; name: string; program: string; state: JobState; submitted_at: number | null; ended_at: number | null; tasks: number; array: number;
  slots: number; needs: string; place: string; on_failure: string; threads: number; waiting: number; running: number; ended: number;
  failed: number; skipped: number; exit_code: number; lost: number; resumed: number; restarted: number; peers_lost: number; retried: number;
  sentence: string; stored_bytes: number; next_event: number;
}
export interface Wait { reason: string; sentence: string; fix: string; detail: string; threads: number }
export interface JobPeer {
  id: string; name: string; state: PeerState; slots: number; running: number; finished: number; lost: number; taken: number; failure: string;
}
export interface Job extends JobSummary { peers: JobPeer[]; waits: Wait[]; absent: { peer: string; reason: string; detail: string }[] }
export type TaskState = 'waiting' | 'running' | 'ended' | 'failed' | 'skipped';
export interface Task {
  id: string; task: number | null; name: string; state: TaskState; host: string | null; epoch: number; resumed: number; restarted: number;
  exit_code: number; sentence: string; reason: string; detail: string; attempts: number; started_at: number | null; ended_at: number | null;
}
export interface TaskPage { tasks: Task[]; next: number | null; count: number }
export interface Hosted {
  id: string; home: string; home_name: string; state: string; slots: number; memory_bytes: number; program: string; since: number; cpu_ms: number;
  lanes: number;
}
export interface JobEvent {
  number: number; at: number; event: string; thread?: string; host?: string; peer?: string; threads?: number; exit_code?: number;
  sentence?: string; ended?: number; failed?: number; state?: string; size?: number; stream?: string; skipped?: number;
}
export interface Ping { round_trip_us: number; way: string; remote: string; version: string; clock_ahead_ms: number }
export type Scope = 'watch' | 'manage';
