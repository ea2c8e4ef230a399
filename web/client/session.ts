import { useSyncExternalStore } from 'react';
import type { BrowserSession } from '../../schemas/browser-session.ts';
import type { PersonSession } from '../../schemas/tenancy.ts';
import { Refusal, unreachable } from './refusal.ts';

/**
 * The session of this page. The access token is in memory only; the refresh token is in a cookie that no
 * script can read. States: `unknown` until the first refresh has answered, then `in` or `out`.
 */
export type SessionState =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'out'; readonly hasEnded: boolean }
  | { readonly kind: 'in'; readonly session: BrowserSession };

let state: SessionState = { kind: 'unknown' };
/** When the token was received, on the clock of this page. */
let receivedAtMs = 0;
const listeners = new Set<() => void>();

function change(next: SessionState): void {
  state = next;
  receivedAtMs = performance.now();
  for (const listener of listeners) listener();
}

export function useSession(): SessionState {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => state,
  );
}

/** A token is exchanged this long before it ends, so that no request is refused for it. */
const EARLY_MS = 60_000;

const csrfToken = (): string =>
  document.querySelector<HTMLMetaElement>('meta[name="csrf-token"]')?.content ?? '';

async function send<Answer>(path: string, body?: unknown, method = 'POST'): Promise<Answer> {
  const response = await fetch(`/session${path}`, {
    method,
    headers: {
      'x-csrf-token': csrfToken(),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(() => {
    throw unreachable();
  });
  const answer: unknown = response.status === 204 ? null : await response.json().catch(() => ({}));
  if (!response.ok) throw new Refusal(response.status, answer as object);
  return answer as Answer;
}

interface SessionAnswer {
  readonly session: BrowserSession | null;
  readonly message?: string;
}

export async function signIn(credentials: { email: string; password: string }): Promise<void> {
  const { session } = await send<SessionAnswer>('/login', credentials);
  if (session !== null) change({ kind: 'in', session });
}

/** True when a session is open; false when the address has to be verified by e-mail first. */
export async function signUp(body: {
  email: string;
  password: string;
  tenant_name: string;
}): Promise<boolean> {
  const { session } = await send<SessionAnswer>('/signup', body);
  if (session == null) return false;
  change({ kind: 'in', session });
  return true;
}

/** Ends a sign-up whose address is verified by e-mail: the token of the message and the chosen password. */
export async function verifyAddress(body: { token: string; password: string }): Promise<void> {
  const { session } = await send<SessionAnswer>('/verify', body);
  if (session !== null) change({ kind: 'in', session });
}

/** Keeps the session that a single sign-on opened in this browser. */
export async function keepSession(refresh_token: string): Promise<void> {
  const { session } = await send<SessionAnswer>('/exchange', { refresh_token });
  if (session !== null) change({ kind: 'in', session });
}

export async function signOut(): Promise<void> {
  await send('/logout');
  change({ kind: 'out', hasEnded: false });
}

/** Ends all sessions of the person, on every device. */
export async function endAllSessions(): Promise<void> {
  await send('/list', undefined, 'DELETE');
  change({ kind: 'out', hasEnded: false });
}

/** Opens the session of the browser's cookie, if there is one. */
export async function resume(): Promise<void> {
  await refresh();
}

let refreshing: Promise<string | null> | null = null;

/**
 * Exchanges the cookie for a new token. One exchange at a time, also across tabs: a refresh token that is
 * used twice ends its session.
 */
function refresh(): Promise<string | null> {
  refreshing ??= navigator.locks
    .request('meterline-session', () => send<SessionAnswer>('/refresh'))
    .then(({ session }) => {
      const hadSession = state.kind === 'in';
      change(session === null ? { kind: 'out', hasEnded: hadSession } : { kind: 'in', session });
      return session?.token ?? null;
    })
    .finally(() => (refreshing = null));
  return refreshing;
}

async function token(): Promise<string | null> {
  if (state.kind === 'out') return null;
  if (state.kind === 'in') {
    const heldMs = performance.now() - receivedAtMs;
    if (heldMs + EARLY_MS < state.session.expires_in_seconds * 1000) return state.session.token;
  }
  return await refresh();
}

/** Asks the person to prove who they are. Resolves with whether they did. */
type Confirmer = () => Promise<boolean>;
let confirmer: Confirmer | null = null;

/**
 * Sets the function that asks for the password when a request needs a recent login. Returns a function that
 * removes it.
 */
export function askBy(ask: Confirmer): () => void {
  confirmer = ask;
  return () => {
    if (confirmer === ask) confirmer = null;
  };
}

/** Proves again who the person is, for requests that need a recent login. */
export async function confirmLogin(password: string): Promise<void> {
  await send('/confirm', { password });
}

/**
 * Sends a request with the session's token; once more with a new one if the token was refused, and once more
 * after the person has confirmed who they are, if it needs a recent login.
 */
export async function authorized(request: Request): Promise<Response> {
  const again = request.clone();
  const response = await renewing(request);
  if (response.status !== 403 || confirmer === null) return response;
  const { code } = (await response
    .clone()
    .json()
    .catch(() => ({}))) as { code?: string };
  if (code !== 'login_required' || !(await confirmer())) return response;
  return await renewing(again);
}

async function renewing(request: Request): Promise<Response> {
  const first = request.clone();
  const response = await withToken(request, await token());
  if (response.status !== 401 || state.kind !== 'in') return response;
  const renewed = await refresh();
  return renewed === null ? response : await withToken(first, renewed);
}

/** Past the browser's cache: pages keep their own. */
function withToken(request: Request, value: string | null): Promise<Response> {
  if (value !== null) request.headers.set('authorization', `Bearer ${value}`);
  return fetch(request, { cache: 'no-store' });
}

/** The open sessions of the person, on all devices. */
export const listSessions = (): Promise<{ readonly items: readonly PersonSession[] }> =>
  send('/list', undefined, 'GET');
