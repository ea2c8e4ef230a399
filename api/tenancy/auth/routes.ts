import {
  ForgotPasswordBody,
  LogInBody,
  RefreshBody,
  ResetPasswordBody,
  SessionAnswer,
  SignUpBody,
  VerifyBody,
} from '../../../schemas/tenancy.ts';
import { Message } from '../../../schemas/primitives.ts';
import { route } from '../../conventions/route.ts';
import { deviceOf } from './device.ts';
import { logIn } from './log-in.ts';
import { endSessions } from './session-repository.ts';
import { ownRoutes } from './own-routes.ts';
import { samlRoutes } from './saml-routes.ts';
import { forgotPassword, resetPassword } from './password-resets.ts';
import { signUp, verifySignUp } from './sign-up.ts';

export const authRoutes = [
  route({
    method: 'POST',
    path: '/auth/signup',
    summary: 'Sign up: create a tenant and log in as its first person',
    permission: 'public',
    body: SignUpBody,
    status: 200,
    answer: SessionAnswer,
    // With e-mail: the same answer for every address.
    acceptedAnswer: Message,
    async handler(call) {
      const { deps, body, accepted } = call;
      const answer = await signUp(deps, body, deviceOf(call));
      if (!('queued' in answer)) return answer;
      accepted();
      return { message: 'Read the e-mail that was sent to this address' } as never;
    },
  }),
  route({
    method: 'POST',
    path: '/auth/verify',
    summary: 'Verify the address of a sign-up with the token of its e-mail; creates the tenant',
    permission: 'public',
    body: VerifyBody,
    status: 200,
    answer: SessionAnswer,
    handler: (call) => verifySignUp(call.deps, call.body, deviceOf(call)),
  }),
  route({
    method: 'POST',
    path: '/auth/password/forgot',
    summary: 'Request an e-mail with a token that sets a new password',
    permission: 'public',
    body: ForgotPasswordBody,
    status: 202,
    answer: Message,
    async handler(call) {
      await forgotPassword(call.deps, call.body.email, deviceOf(call));
      return { message: 'If the address has an account, an e-mail is on its way' };
    },
  }),
  route({
    method: 'POST',
    path: '/auth/password/reset',
    summary: 'Set a password with a token; ends all sessions of the person',
    permission: 'public',
    body: ResetPasswordBody,
    status: 200,
    answer: Message,
    async handler(call) {
      await resetPassword(call.deps, call.body, deviceOf(call));
      return { message: 'The password is set. Log in with it' };
    },
  }),
  route({
    method: 'POST',
    path: '/auth/login',
    summary: 'Open a session',
    permission: 'public',
    body: LogInBody,
    status: 200,
    answer: SessionAnswer,
    handler: (call) => logIn(call.deps, call.body, deviceOf(call)),
  }),
  route({
    method: 'POST',
    path: '/auth/refresh',
    summary: 'Exchange a refresh token for a new token and a new refresh token',
    permission: 'public',
    body: RefreshBody,
    status: 200,
    answer: SessionAnswer,
    handler: ({ deps, body }) => deps.sessions.refresh(deps.pool, body.refresh_token),
  }),
  route({
    method: 'POST',
    path: '/auth/logout',
    summary: 'End the session',
    permission: 'authenticated',
    withoutEnvironment: true,
    status: 200,
    answer: Message,
    async handler({ deps, identity }) {
      if (identity.kind === 'person')
        await endSessions(deps, identity, 'logged_out', { only: identity.session_id });
      return { message: 'Logged out' };
    },
  }),
  ...ownRoutes,
  ...samlRoutes,
];
