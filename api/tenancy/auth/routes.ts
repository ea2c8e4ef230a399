import { LogInBody, RefreshBody, SessionAnswer, SignUpBody } from '../../../schemas/tenancy.ts';
import { Message } from '../../../schemas/primitives.ts';
import { route } from '../../conventions/route.ts';
import { logIn } from './log-in.ts';
import { samlRoutes } from './saml-routes.ts';
import { signUp } from './sign-up.ts';

export const authRoutes = [
  route({
    method: 'POST',
    path: '/auth/signup',
    summary: 'Make a tenant and log in as its first person',
    permission: 'public',
    body: SignUpBody,
    status: 200,
    answer: SessionAnswer,
    handler: ({ deps, body }) => signUp(deps, body),
  }),
  route({
    method: 'POST',
    path: '/auth/login',
    summary: 'Open a session',
    permission: 'public',
    body: LogInBody,
    status: 200,
    answer: SessionAnswer,
    handler: ({ deps, body, ip }) => logIn(deps, body, ip),
  }),
  route({
    method: 'POST',
    path: '/auth/refresh',
    summary: 'Exchange a refresh token for a new token and a new refresh token',
    permission: 'public',
    body: RefreshBody,
    status: 200,
    answer: SessionAnswer,
    handler: ({ deps, body }) => deps.sessions.refresh(body.refresh_token),
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
      if (identity.session_id !== undefined) await deps.sessions.end(identity.session_id);
      return { message: 'Logged out' };
    },
  }),
  ...samlRoutes,
];
