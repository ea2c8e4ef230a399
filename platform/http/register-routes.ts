import assert from 'node:assert/strict';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Pool } from '../../postgres/client.ts';
import { scopedPool } from '../../postgres/scoped-pool.ts';
import type { Identity } from '../identity/identity.ts';
import { requestSession } from '../identity/request-session.ts';
import { admit, isRefusedCredential, type AdmitOptions } from './admit.ts';
import { callerGoneSignal } from './caller-gone.ts';
import { assertMatches, conditionOf, readerOf, type Condition } from './conditional.ts';
import { emptyTextsOf } from './empty-texts.ts';
import { JSON_TYPE, readFiles } from './file-bodies.ts';
import { ignoredFields } from './ignored-fields.ts';
import { wordsOf } from './near-misses.ts';
import { parse } from './parse.ts';
import { parseRequest, type IsWord } from './parse-request.ts';
import { countRefusedCredential, takeRequest, type CallerLimit } from './rate-limit.ts';
import { identityOf, keepIdentity } from './request-identity.ts';
import type { RequestLog } from './request-log.ts';
import { assertRoutes, onlyReads, urlOf, type Call, type Route, type RouteDeps } from './route.ts';
import { runRequest } from './run-request.ts';
import { sendAnswer } from './send-answer.ts';
import { redirectWithoutSlash } from './trailing-slash.ts';

export interface RegisterOptions<Deps extends RouteDeps> extends AdmitOptions {
  readonly prefix: string;
  readonly deps: Deps;
  /**
   * From `connectAsApi`, for work inside a scope. Without it that work uses the pool of `deps`, which is
   * slower.
   */
  readonly apiPool?: Pool | null;
  /** Request limit of one caller; null or unset means no limit. */
  readonly callerLimit?: CallerLimit | null;
  /** Stores answered requests for their callers. */
  readonly requestLog?: Pick<RequestLog, 'note'>;
  /**
   * The time of the customers that a request is about; null means real time. Set the clock of the request's
   * dependencies and the time that the database notes.
   */
  readonly timeOf?: TimeOf<Deps>;
  /**
   * Dependencies of a request that only reads. `signal` is aborted when its caller has closed the connection: work for
   * the answer may stop then.
   */
  readonly depsUntil?: (deps: Deps, signal: AbortSignal) => Deps;
  /** Receives each answer before it is sent. Tests check it against the declared schema. */
  readonly onBody?: (route: Route<Deps>, body: unknown) => void;
}

/** One request for `timeOf`. `pool` sees only the rows of its scope. */
export type TimeOf<Deps> = (
  route: Route<Deps>,
  request: {
    readonly pool: Pool;
    readonly identity: Identity;
    readonly params: unknown;
    readonly query: unknown;
    readonly body: unknown;
  },
) => Promise<string | null>;

/**
 * Registers declared routes on a server. The order of refusals is fixed: 401, 403, 400, 404 (the credential
 * and the permission are checked before the body is read), with 429 between 403 and 400.
 */
export function registerRoutes<Deps extends RouteDeps>(
  app: FastifyInstance,
  declared: readonly Route<Deps>[],
  options: RegisterOptions<Deps>,
): void {
  assertRoutes(declared as readonly Route<never>[]);
  const routes = declared.map(withEmptyTexts);
  readFiles(app, routes, options.prefix);
  let words: ReadonlySet<string> | null = null;
  const isWord = (key: string): boolean => (words ??= wordsOf(routes)).has(key);
  for (const route of routes) {
    const read = routes[readerOf(route, routes)] ?? null;
    app.route({
      method: route.method,
      url: urlOf(options.prefix, route),
      ...(route.bodyLimitBytes === undefined ? {} : { bodyLimit: route.bodyLimitBytes }),
      config: { rawJson: route.bodyType === JSON_TYPE },
      onRequest: async (request, reply) => {
        if (redirectWithoutSlash(request, reply)) return reply;
        const callerLimit = options.callerLimit ?? null;
        const identity = await admit(route, request, options).catch(async (error: unknown) => {
          if (isRefusedCredential(error)) await countRefusedCredential(callerLimit, request, reply);
          throw error;
        });
        await takeRequest(callerLimit, identity, request, reply);
        keepIdentity(request, identity);
      },
      onResponse: async (request, reply) => options.requestLog?.note(route.path, request, reply),
      handler: (request, reply) => answer(route, read, request, reply, { ...options, isWord }),
    });
  }
}

/** The route with "" instead of null where its answer requires it. */
function withEmptyTexts<Deps extends RouteDeps>(route: Route<Deps>): Route<Deps> {
  const fill = route.answer === null ? null : emptyTextsOf(route.answer);
  if (fill === null) return route;
  return { ...route, handler: async (call) => fill(await route.handler(call)) as never };
}

async function answer<Deps extends RouteDeps>(
  route: Route<Deps>,
  read: Route<Deps> | null,
  request: FastifyRequest,
  reply: FastifyReply,
  options: RegisterOptions<Deps> & IsWord,
): Promise<FastifyReply> {
  const identity = identityOf(request);
  const parsed = parseRequest(route, request, reply, options);
  const { tenant_id, environment_id } = identity;
  const afterCommit: (() => Promise<void>)[] = [];
  let { status } = route;
  const condition = conditionOf(route, read as Route | null, request);
  const callOf = (deps: Deps): Call<Deps, unknown, unknown, unknown> => ({
    deps,
    ...parsed,
    scope: { tenant_id, environment_id },
    user_id: identity.user_id,
    identity,
    request_id: request.id,
    headers: request.headers,
    ip: request.ip,
    setHeader: (name, value) => void reply.header(name, value),
    accepted() {
      assert(route.acceptedAnswer !== undefined);
      status = 202;
    },
    ignore(paths) {
      if (paths.length === 0) return;
      const named = [reply.getHeader('x-ignored-fields') ?? []].flat().join(', ');
      const more = ignoredFields(paths, request.headers);
      void reply.header('x-ignored-fields', named === '' ? more : `${named}, ${more}`);
    },
    afterCommit: (work) => void afterCommit.push(work),
  });
  const run = async (deps: Deps): Promise<unknown> => {
    if (condition !== null) await assertCondition(condition, callOf(deps));
    return await route.handler(callOf(deps));
  };

  const session = requestSession(route, identity, request);
  const { pool } = options.deps;
  const base = session.scope === null ? pool : (options.apiPool ?? pool);
  const own = scopedPool(base, session);
  const time = (await options.timeOf?.(route, { pool: own, identity, ...parsed })) ?? null;
  const shared =
    onlyReads(route) && options.depsUntil !== undefined
      ? options.depsUntil(options.deps, callerGoneSignal(reply))
      : options.deps;
  const deps =
    time === null
      ? { ...shared, pool: own }
      : {
          ...shared,
          pool: scopedPool(base, { ...session, time }),
          clock: { now: () => Date.parse(time) },
        };
  const isConditional = condition !== null;
  const body = await runRequest(route, request, reply, { identity, deps, run, isConditional });
  for (const work of afterCommit) await work();

  options.onBody?.(route, body);
  return sendAnswer(route, request, reply, { status, body });
}

/** Compares the record with `If-Match`, inside the transaction that writes it. */
async function assertCondition<Deps>(
  condition: Condition,
  call: Call<Deps, unknown, unknown, unknown>,
): Promise<void> {
  const { read } = condition;
  const query = read.query === undefined ? undefined : parse(read.query, {}, 'query');
  const given: Call<Deps, unknown, unknown, unknown> = { ...call, query, setHeader: () => {} };
  assertMatches(condition, await read.handler(given as Call<unknown, unknown, unknown, unknown>));
}
