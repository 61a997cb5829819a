// Which page is shown: the part of the address behind '#'.

import { signal } from '@preact/signals';
import { forgetToken, takeTokenFromAddress } from './api';

export type Route = { page: 'grid' } | { page: 'jobs' } | { page: 'job'; id: string } | { page: 'peers' } | { page: 'peer'; id: string } | { page: 'nowhere' };

export function parse(hash: string): Route {
  const [first = '', id = ''] = hash.replace(/^#\/?/, '').split('/');
  const known = /^[0-9a-f]{64}$/.test(id);
  if (first === '') return { page: 'grid' };
  if (first === 'jobs' && id === '') return { page: 'jobs' };
  if (first === 'jobs' && known) return { page: 'job', id };
  if (first === 'peers' && id === '') return { page: 'peers' };
  if (first === 'peers' && known) return { page: 'peer', id };
  return { page: 'nowhere' };
}

takeTokenFromAddress();
export const route = signal<Route>(parse(location.hash));
addEventListener('hashchange', () => {
  if (location.hash.startsWith('#token=')) {  // a link with another token, pasted into this tab
    forgetToken();
    takeTokenFromAddress();
    return location.reload();
  }
  if (location.hash === '#main') return;  // the skip link
  route.value = parse(location.hash);
  scrollTo(0, 0);
});

export const jobLink = (id: string): string => `#/jobs/${id}`;
export const peerLink = (id: string): string => `#/peers/${id}`;
