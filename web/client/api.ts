import createClient from 'openapi-fetch';
import { currentEnvironment } from './environment.ts';
import { authorized } from './session.ts';
import type { components, paths } from './openapi.d.ts';
import { Refusal, unreachable } from './refusal.ts';

/** As the client types answers: fields that are always null are left out. */
type Answered<T> = T extends (infer Item)[]
  ? Answered<Item>[]
  : T extends object
    ? { [K in keyof T as NonNullable<T[K]> extends never ? never : K]: Answered<T[K]> }
    : T;

/** Records of the API by the names of its OpenAPI document: `Record<'Customer'>`. */
export type ApiRecord<Name extends keyof components['schemas']> = Answered<
  components['schemas'][Name]
>;

/**
 * The API, typed by its OpenAPI document. Requests carry the session's token and the chosen environment. Use
 * it through `answerOf`, which throws a `Refusal`:
 *
 *     useQuery({
 *       queryKey: ['customer', id],
 *       queryFn: ({ signal }) =>
 *         answerOf(api.GET('/customers/{id}', { params: { path: { id } }, signal })),
 *     });
 */
export const api = createClient<paths>({
  baseUrl: '/v1',
  fetch: async (request) => {
    const environment = currentEnvironment();
    if (environment !== null) request.headers.set('x-environment-id', environment);
    return await authorized(request);
  },
});

/** Resolves with the body of a success; throws a `Refusal` otherwise. */
export async function answerOf<Answer>(
  call: Promise<{ data?: Answer; error?: unknown; response: Response }>,
): Promise<Answer> {
  const { data, error, response } = await call.catch((reason: unknown) => {
    if (reason instanceof TypeError) throw unreachable();
    throw reason;
  });
  if (response.ok) return data as Answer;
  throw new Refusal(response.status, typeof error === 'object' && error !== null ? error : {});
}
