import createClient from 'openapi-fetch';
import type { paths } from './openapi.d.ts';
import { asCustomer } from './portal-session.ts';

/** The API of the customer of the portal. Use it through `answerOf`, as `api`. */
export const portalApi = createClient<paths>({
  baseUrl: '/v1',
  credentials: 'omit',
  fetch: asCustomer,
});
