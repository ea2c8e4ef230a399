import { useSyncExternalStore } from 'react';
import type { PortalPageAnswer, PortalPageSession } from '../../schemas/portal-page.ts';
import { Refusal, unreachable } from './refusal.ts';

/**
 * The session of a portal page: its token is in memory only, and in a cookie that no script can read. States:
 * `unknown` until the server has answered, then `in` or `out`.
 */
export type PortalState =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'out'; readonly why: 'no link' | 'ended' | 'left' }
  | { readonly kind: 'in'; readonly session: PortalPageSession };

let state: PortalState = { kind: 'unknown' };
const listeners = new Set<() => void>();

function change(next: PortalState): void {
  state = next;
  for (const listener of listeners) listener();
}

export function usePortalState(): PortalState {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => state,
  );
}

const NAMED_ENVIRONMENT = /^\/portal\/env\/([A-Za-z0-9_-]+)(?=\/|$)/;

/** Whether a page of another site shows this one in a frame. */
export const isFramed = (): boolean => window.self !== window.top;

/** The part of the address in front of every page of the portal. */
export const portalBasePath = (): string =>
  NAMED_ENVIRONMENT.exec(location.pathname)?.[0] ?? '/portal';

async function send<Answer>(path: string, body: object = {}): Promise<Answer> {
  const environment_id = NAMED_ENVIRONMENT.exec(location.pathname)?.[1] ?? null;
  const csrf = document.querySelector<HTMLMetaElement>('meta[name="csrf-token"]');
  const response = await fetch(`/session/portal${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-csrf-token': csrf?.content ?? '' },
    body: JSON.stringify({ ...body, environment_id, is_framed: isFramed() }),
  }).catch(() => {
    throw unreachable();
  });
  const answer: unknown = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refusal(response.status, answer as object);
  return answer as Answer;
}

/** Exchanges the token of a link for a session, or continues the session that this browser has. */
export async function beginPortal(token: string | null): Promise<void> {
  const { session } =
    token === null
      ? await send<PortalPageAnswer>('/resume')
      : await send<PortalPageAnswer>('/open', { token });
  if (session !== null) change({ kind: 'in', session });
  else change({ kind: 'out', why: token === null ? 'no link' : 'ended' });
}

export async function leavePortal(): Promise<void> {
  await send('/logout');
  change({ kind: 'out', why: 'left' });
}

/** Sends a request with the token. A refused token means that the session has ended. */
export async function asCustomer(request: Request): Promise<Response> {
  if (state.kind === 'in') request.headers.set('x-session-token', state.session.token);
  const response = await fetch(request, { cache: 'no-store' });
  if (response.status === 401) change({ kind: 'out', why: 'ended' });
  return response;
}
