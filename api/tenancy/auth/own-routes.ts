import { Message } from '../../../schemas/primitives.ts';
import { ChangePasswordBody } from '../../../schemas/tenancy.ts';
import { route } from '../../conventions/route.ts';
import { changePassword } from './change-password.ts';
import { ownSession } from './own-session.ts';

/** What a person who is logged in does with their own password and sessions. */
export const ownRoutes = [
  route({
    method: 'PUT',
    path: '/users/me/password',
    summary: 'Change the caller’s own password; their other sessions end',
    permission: 'authenticated',
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
];
