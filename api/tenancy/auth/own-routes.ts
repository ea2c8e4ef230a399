import { notFound } from '../../../domain/errors.ts';
import { isoTime } from '../../../platform/clock.ts';
import { IdParams, Message } from '../../../schemas/primitives.ts';
import { pageOf } from '../../../schemas/search.ts';
import {
  ChangePasswordBody,
  EndSessionsQuery,
  PersonSession,
  PersonSessionSearch,
} from '../../../schemas/tenancy.ts';
import { route } from '../../conventions/route.ts';
import { changePassword } from './change-password.ts';
import { ownSession } from './own-session.ts';
import { endSessions, openSessions } from './session-repository.ts';

/** Routes for a logged-in person's own password and sessions. */
export const ownRoutes = [
  route({
    method: 'PUT',
    path: '/users/me/password',
    summary: 'Change the caller’s own password; their other sessions end',
    permission: 'authenticated',
    sessionOnly: true,
    withoutEnvironment: true,
    secretAnswer: true,
    body: ChangePasswordBody,
    status: 200,
    answer: Message,
    async handler(call) {
      await changePassword(call.deps, ownSession(call), call.body);
      return { message: 'Password changed' };
    },
  }),
  route({
    method: 'GET',
    path: '/users/me/sessions',
    summary: 'List the sessions of the caller',
    permission: 'authenticated',
    sessionOnly: true,
    withoutEnvironment: true,
    query: PersonSessionSearch.query,
    status: 200,
    answer: pageOf(PersonSession),
    handler(call) {
      const own = ownSession(call);
      const now = isoTime(call.deps.clock.now());
      return openSessions(call.deps.pool, own, own.session_id, now, call.query);
    },
  }),
  route({
    method: 'DELETE',
    path: '/users/me/sessions/{id}',
    summary: 'End one session of the caller',
    permission: 'authenticated',
    sessionOnly: true,
    withoutEnvironment: true,
    params: IdParams,
    status: 204,
    answer: null,
    async handler(call) {
      const { id } = call.params;
      const own = ownSession(call);
      await call.deps.pool.begin(async (tx) => {
        const deps = { pool: tx, clock: call.deps.clock };
        if ((await endSessions(deps, own, 'session_ended', { only: id })) === 0)
          throw notFound('Session', id);
      });
    },
  }),
  route({
    method: 'DELETE',
    path: '/users/me/sessions',
    summary: 'End all sessions of the caller, or all except the current one',
    permission: 'authenticated',
    sessionOnly: true,
    withoutEnvironment: true,
    query: EndSessionsQuery,
    status: 204,
    answer: null,
    async handler(call) {
      const own = ownSession(call);
      const which = call.query.keep_current === 'true' ? { but: own.session_id } : ('all' as const);
      await call.deps.pool.begin(async (tx) => {
        const deps = { pool: tx, clock: call.deps.clock };
        await endSessions(deps, own, 'session_ended', which);
      });
    },
  }),
];
