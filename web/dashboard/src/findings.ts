// What of this machine and its grid needs a look, from the same facts as `godwit doctor` uses.

import { nameOf, size } from './format';
import type { Node, Peer } from './types';

export interface Finding { verdict: 'bad' | 'warn' | 'info'; title: string; fix: string }

const LOW_DISK_BYTES = 2 * 1024 ** 3;

export function findings(node: Node, peers: Peer[]): Finding[] {
  const found: Finding[] = [];
  const add = (verdict: Finding['verdict'], title: string, fix: string) => found.push({ verdict, title, fix });
  if (node.workers_fail) add('bad', `No worker can start on this machine: ${node.workers_fail}.`, 'It lends nothing until this is repaired: godwit doctor');
  if (node.storage.full) add('bad', 'The disk of the state folder is full: no new work is taken.', 'Make room, for example with: godwit job prune');
  else if (node.storage.free_bytes < LOW_DISK_BYTES) add('warn', `${size(node.storage.free_bytes)} of disk are left.`, 'Make room, or start the daemon with --state on another disk.');
  for (const peer of peers.filter((one) => one.state === 'suspected')) add('warn', `${nameOf(peer.name, peer.id)} does not answer.`, 'Its threads go on elsewhere if it stays silent.');
  if (node.reach === 'relay_only') add('warn', 'This machine is reached only through relays.', 'It works. Faster: allow outgoing TCP connections here.');
  if (node.not_lending && !node.workers_fail) add('info', `Jobs of other peers get nothing here now: ${node.not_lending}.`, 'Change what is lent with: godwit share');
    return found;
}
