// Requests to the daemon that served this page.

const KEY = 'godwit.token';
const PATIENCE_MS = 10_000;

export class ApiError extends Error {
  constructor(readonly request: string, readonly status: number, readonly kind: string, message: string, readonly next: string) {
    super(message);
  }
}

/** Moves the token of the link from the address bar, where it would end up in the history, to this tab's own storage. */
export function takeTokenFromAddress(): void {
  const found = /^#token=([0-9a-f]+)(.*)$/.exec(location.hash);
  if (!found) return;
  sessionStorage.setItem(KEY, found[1] ?? '');
  history.replaceState(null, '', '/' + (found[2] ? '#' + found[2] : ''));
}

export const hasToken = (): boolean => sessionStorage.getItem(KEY) !== null;
export const forgetToken = (): void => sessionStorage.removeItem(KEY);

async function send(method: string, path: string, signal?: AbortSignal): Promise<Response> {
  const headers = { Authorization: `Bearer ${sessionStorage.getItem(KEY) ?? ''}` };
  let response: Response;
  try {
    response = await fetch(path, { method, headers, cache: 'no-store', ...(signal ? { signal } : {}) });
  } catch (why) {
    if (signal?.aborted) throw why;
    throw new ApiError(`${method} ${path}`, 0, 'disconnected', 'The daemon does not answer.', "start it with 'godwit up --web'");
  }
  if (response.ok) return response;
  const error = ((await response.json().catch(() => ({}))) as { error?: { kind: string; message: string; next: string } }).error;
  throw new ApiError(`${method} ${path}`, response.status, error?.kind ?? 'internal', error?.message ?? 'The daemon gave no reason.', error?.next ?? '');
}

export async function get<T>(path: string): Promise<T> {
  return (await send('GET', path, AbortSignal.timeout(PATIENCE_MS)).catch(asSilence(path))).json() as Promise<T>;
}

export async function post<T>(path: string): Promise<T> {
  return (await send('POST', path)).json() as Promise<T>;
}

export async function bytes(path: string): Promise<ArrayBuffer> {
  return (await send('GET', path, AbortSignal.timeout(PATIENCE_MS)).catch(asSilence(path))).arrayBuffer();
}

const asSilence = (path: string) => (why: unknown): never => {
  if (why instanceof ApiError) throw why;
  throw new ApiError(`GET ${path}`, 0, 'timeout', 'The daemon has not answered for 10 s.', 'it may be suspended or very busy');
};

/** The lines of a stream of JSON values, until it ends or `signal` ends it. */
export async function lines<T>(path: string, signal: AbortSignal, take: (value: T) => void): Promise<void> {
  const reader = (await send('GET', path, signal)).body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) take(JSON.parse(part) as T);
  }
}
