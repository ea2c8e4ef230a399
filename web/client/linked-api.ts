import createClient from 'openapi-fetch';
import type { paths } from './openapi.d.ts';

/** The API without a session, for pages that a link opens. Use it through `answerOf`, as `api`. */
export const linkedApi = createClient<paths>({ baseUrl: '/v1', credentials: 'omit' });
