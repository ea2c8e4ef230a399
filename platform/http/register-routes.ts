import assert from 'node:assert/strict';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { allows, type Permission } from '../../domain/access/permissions.ts';
import { BillingError } from '../../domain/errors.ts';
import type { Pool, Transaction } from '../../postgres/client.ts';
import {
  claimIdempotencyKey,
  keepAnswer,
  poolWithin,
  requestFingerprint,
  type KeyState,
} from '../../postgres/tables/idempotency.ts';
import { isPostgresRace } from '../../postgres/outage.ts';
import { scopedPool } from '../../postgres/scoped-pool.ts';
import type { Authenticate, Identity } from '../identity/api-key-auth.ts';
import { credentialOf, environmentOf } from '../identity/credential.ts';
import type { PortalSessions } from '../identity/portal-sessions.ts';
import { requestSession } from '../identity/request-session.ts';
import type { Sessions } from '../identity/sessions.ts';
import {
  assertMatches,
  CONDITION_ISOLATION,
  conditionOf,
  etagOf,
  isKnown,
  preconditionFailed,
  readerOf,
  type Condition,
} from './conditional.ts';
import { doOnce } from './command-once.ts';
import { emptyTextsOf } from './empty-texts.ts';
import { ignoredFields } from './ignored-fields.ts';
import { assertStorable, hasTextAfterBody } from './json-body.ts';
import { refuseNearMisses, wordsOf } from './near-misses.ts';
import { parse, unknownFields, unknownKeys } from './parse.ts';
import type { RateLimit } from '../cache/rate-limiter.ts';
import { networkOf } from '../network.ts';
import { countRefusedCredential, refuseBeyond, type CallerLimit } from './rate-limit.ts';
import { assertRoutes, type Call, type Route, type RouteDeps } from './route.ts';
import { redirectWithoutSlash } from './trailing-slash.ts';

export interface RegisterOptions<Deps extends RouteDeps> {
  readonly prefix: string;
  readonly deps: Deps;
  /**
   * From `connectAsApi`, for work inside a scope. Without it that work uses the pool of `deps`, which is
   * slower.
   */
  readonly apiPool?: Pool | null;
  readonly authenticate: Authenticate;
  /** Without it only keys are accepted. */
  readonly sessions?: Sessions;
  /** Without it portal routes refuse every caller. */
  readonly portalSessions?: Pick<PortalSessions, 'authenticate'>;
  /** Request limit of one caller; null or unset means no limit. */
  readonly callerLimit?: CallerLimit | null;
  /** Receives each answer before it is sent. Tests check it against the declared schema. */
  readonly onBody?: (route: Route<Deps>, body: unknown) => void;
}

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
      onRequest: async (request, reply) => {
        if (redirectWithoutSlash(request, reply)) return reply;
        const callerLimit = options.callerLimit ?? null;
        const identity = await admit(route, request, options).catch(async (error: unknown) => {
          if (isRefusedCredential(error)) await countRefusedCredential(callerLimit, request, reply);
          throw error;
        });
        await takeRequest(callerLimit, identity, request, reply);
        identities.set(request, identity);
      },
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

/** The path as Fastify writes it: `/v1/plans/:id`. */
const urlOf = (prefix: string, { path }: Pick<Route, 'path'>): string =>
  prefix + path.replace(/\{([a-z_]+)\}/g, ':$1');

/** Lets only routes that declare a file body receive one, as a `Buffer`. */
function readFiles(
  app: FastifyInstance,
  routes: readonly Pick<Route, 'method' | 'path' | 'bodyType'>[],
  prefix: string,
): void {
  const taking = routes.filter((route) => route.bodyType !== undefined);
  for (const type of new Set(taking.map((route) => route.bodyType!))) {
    const urls = new Set(
      taking
        .filter((route) => route.bodyType === type)
        .map((route) => `${route.method} ${urlOf(prefix, route)}`),
    );
    app.addContentTypeParser(type, { parseAs: 'buffer' }, (request, body, done) => {
      if (urls.has(`${request.method} ${request.routeOptions.url}`)) return done(null, body);
      const message = 'Send the body as application/json.';
      done(new BillingError('invalid', 'validation_error', message));
    });
  }
}

const NOBODY: Identity = {
  tenant_id: '',
  environment_id: '',
  key_id: null,
  user_id: '',
  user_type: 'user',
  roles: [],
  permissions: [],
  environment_ids: [],
  environment_type: null,
};
const identities = new WeakMap<FastifyRequest, Identity>();

const unauthenticated = (message: string): BillingError =>
  new BillingError('unauthenticated', 'unauthenticated', message);
const isRefusedCredential = (error: unknown): boolean =>
  error instanceof BillingError && error.kind === 'unauthenticated';
const forbidden = (message: string): BillingError =>
  new BillingError('forbidden', 'permission_denied', message);

async function admit(
  route: Pick<Route, 'permission' | 'humanOnly' | 'humanSuperAdminOnly' | 'withoutEnvironment'>,
  request: FastifyRequest,
  options: Pick<RegisterOptions<RouteDeps>, 'authenticate' | 'sessions' | 'portalSessions'>,
): Promise<Identity> {
  if (route.permission === 'public') return NOBODY;
  if (route.permission === 'portal') return await admitCustomer(request, options.portalSessions);
  const credential = credentialOf(request.headers);
  if (credential === null)
    throw unauthenticated('Send an API key in x-api-key, or a token in Authorization: Bearer.');
  const identity =
    credential.kind === 'token'
      ? await options.sessions?.authenticate(
          credential.value,
          environmentOf(request.headers),
          route.withoutEnvironment !== true,
        )
      : await options.authenticate(credential.value);
  if (identity == null)
    throw unauthenticated('The API key or token is unknown, was withdrawn, or has expired.');
  if (identity.publishable !== undefined)
    throw unauthenticated(
      'A publishable key sends events, by POST /events, and does nothing else.',
    );
  assertAllowed(route, identity);
  return identity;
}

/** The end customer of a portal session. API keys and session tokens are not accepted here. */
async function admitCustomer(
  request: FastifyRequest,
  sessions: Pick<PortalSessions, 'authenticate'> | undefined,
): Promise<Identity> {
  const token = request.headers['x-session-token'];
  if (typeof token !== 'string' || token === '')
    throw unauthenticated('Send the token of a portal session in X-Session-Token.');
  const identity = await sessions?.authenticate(token);
  if (identity == null) throw unauthenticated('The portal session is unknown or has ended.');
  return identity;
}

/** Counts the request against its credential, or against its address if it has none. */
async function takeRequest(
  callerLimit: CallerLimit | null,
  identity: Identity,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  if (callerLimit === null) return;
  const { limiter } = callerLimit;
  const [caller, limit] = limitedAs(identity, request, callerLimit);
  refuseBeyond(await limiter.take(`api:${caller}`, 1, limit), limit, 'requests', reply);
}

/** The name of the bucket that counts the caller's requests, and its limit. */
function limitedAs(
  { key_id, user_id, customer_id, session_id }: Identity,
  request: FastifyRequest,
  { limit, portal = limit, anonymous = limit }: CallerLimit,
): [caller: string, limit: RateLimit] {
  if (customer_id !== undefined) return [`portal ${session_id}`, portal];
  const caller = key_id ?? user_id;
  return caller === '' ? [`address ${networkOf(request.ip)}`, anonymous] : [caller, limit];
}

/** Deny by default: 403 unless the caller has exactly the permission that the route requires. */
export function assertAllowed(
  route: Pick<Route, 'humanOnly' | 'humanSuperAdminOnly'> & { readonly permission: string },
  identity: Identity,
): void {
  if (
    route.permission !== 'authenticated' &&
    !allows(identity.permissions, route.permission as Permission)
  )
    throw forbidden(`The credential needs permission ${route.permission}.`);
  if (route.humanOnly === true && identity.user_type !== 'user')
    throw forbidden('Only a person, or a key of a person, may do this.');
  const isHumanSuperAdmin = identity.user_type === 'user' && identity.roles.includes('super_admin');
  if (route.humanSuperAdminOnly === true && !isHumanSuperAdmin)
    throw forbidden('Only a person who is super admin may do this.');
}

interface IsWord {
  /** Whether a request or an answer of any route has a key of this name. */
  readonly isWord: (key: string) => boolean;
}

async function answer<Deps extends RouteDeps>(
  route: Route<Deps>,
  read: Route<Deps> | null,
  request: FastifyRequest,
  reply: FastifyReply,
  options: RegisterOptions<Deps> & IsWord,
): Promise<FastifyReply> {
  const identity = identities.get(request) ?? NOBODY;
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
  const own = scopedPool(session.scope === null ? pool : (options.apiPool ?? pool), session);
  const deps = { ...options.deps, pool: own };
  const key = idempotencyKeyOf(route, request);
  const work = { key, identity, deps, run, isConditional: condition !== null };
  const body =
    key === null && condition === null
      ? await run(deps)
      : key !== null && route.ownsTransactions === true
        ? await runCommandOnce(route, request, reply, { ...work, key })
        : await runInTransaction(route, request, reply, work);
  for (const work of afterCommit) await work();

  options.onBody?.(route, body);
  const tag = route.method === 'DELETE' ? null : etagOf(body);
  if (tag !== null) void reply.header('etag', tag);
  if (tag !== null && route.method === 'GET' && isKnown(request, tag))
    return reply.code(304).send();
  if (route.deprecated === true) void reply.header('deprecation', 'true');
  if (route.secretAnswer === true) void reply.header('cache-control', 'no-store');
  void reply.code(status);
  // A route with several forms has already set the content type.
  if (route.contentType !== undefined && !reply.hasHeader('content-type'))
    void reply.type(route.contentType);
  if (isFile(reply.getHeader('content-type')))
    void reply.header('content-disposition', 'attachment');
  // An empty answer must not carry a content type.
  return route.answer === null && route.contentType === undefined ? reply.send() : reply.send(body);
}

/** Files with tenant data: to be saved, never to be shown by a browser as a page of this origin. */
const isFile = (contentType: unknown): boolean =>
  typeof contentType === 'string' && /^(text\/csv|application\/x-ndjson)/.test(contentType);

function parseRequest<Deps>(
  route: Route<Deps>,
  request: FastifyRequest,
  reply: FastifyReply,
  { isWord }: IsWord,
): { params: unknown; query: unknown; body: unknown } {
  assertStorable(request.params, 'path');
  assertStorable(request.query, 'query');
  const unknown = route.body === undefined ? [] : unknownKeys(route.body, request.body);
  refuseNearMisses(unknown, isWord);
  const ignored = [
    ...(route.query === undefined
      ? Object.keys(request.query as object)
      : unknownFields(route.query, request.query)),
    ...unknown.map(({ path }) => path),
    ...(hasTextAfterBody(request) ? ['text after the body'] : []),
  ];
  if (ignored.length > 0)
    void reply.header('x-ignored-fields', ignoredFields(ignored, request.headers));
  return {
    params: route.params === undefined ? undefined : parse(route.params, request.params, 'path'),
    query: route.query === undefined ? undefined : parse(route.query, request.query, 'query'),
    body: route.body === undefined ? undefined : parse(route.body, request.body, 'body'),
  };
}

/** The idempotency key of a request that changes something; null for reads. */
function idempotencyKeyOf<Deps>(route: Route<Deps>, request: FastifyRequest): string | null {
  const key = request.headers['idempotency-key'];
  if (key === undefined || route.method === 'GET' || route.permission.endsWith(':read'))
    return null;
  // A public call has no scope in which to look up a key.
  if (route.permission === 'public') return null;
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  const message = 'has 1 to 255 visible ASCII characters';
  throw new BillingError('invalid', 'validation_error', `Idempotency-Key: ${message}`, [
    { path: 'Idempotency-Key', code: 'invalid_value', message },
  ]);
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

interface TransactionWork<Deps> {
  readonly key: string | null;
  readonly identity: Identity;
  readonly deps: Deps;
  readonly isConditional: boolean;
  run(deps: Deps): Promise<unknown>;
}

/** With a condition, a concurrent change of the record results in 412, not in a lost update. */
async function runInTransaction<Deps extends RouteDeps>(
  route: Route<Deps>,
  request: FastifyRequest,
  reply: FastifyReply,
  work: TransactionWork<Deps>,
): Promise<unknown> {
  const { key, deps, isConditional } = work;
  const inside = (tx: Transaction): Promise<unknown> =>
    key === null
      ? work.run({ ...deps, pool: poolWithin(tx) })
      : runOnce(route, request, reply, tx, { ...work, key });
  if (!isConditional) return await deps.pool.begin(inside);
  try {
    return await deps.pool.begin(CONDITION_ISOLATION, inside);
  } catch (error) {
    throw isPostgresRace(error) ? preconditionFailed(null) : error;
  }
}

/** Runs a command that owns its transactions, or returns the stored answer of the first run. */
async function runCommandOnce<Deps extends RouteDeps>(
  route: Route<Deps>,
  request: FastifyRequest,
  reply: FastifyReply,
  work: TransactionWork<Deps> & { readonly key: string },
): Promise<unknown> {
  const { identity, deps } = work;
  const command = {
    ...keyOf(request, work),
    status: route.status,
    isSecret: route.secretAnswer === true,
  };
  const once = await doOnce(deps.pool, identity, command, (claim) =>
    work.run({ ...deps, claims: [claim] }),
  );
  return once.state === 'done' ? once.answer.body : repeated(route, reply, once);
}

/**
 * Runs the work and stores its answer in one transaction, or returns the stored answer of the first run. A
 * refusal or a failure is not stored, so a repeat after one runs again.
 */
async function runOnce<Deps extends RouteDeps>(
  route: Route<Deps>,
  request: FastifyRequest,
  reply: FastifyReply,
  tx: Transaction,
  work: TransactionWork<Deps> & { readonly key: string },
): Promise<unknown> {
  const { identity, deps } = work;
  const { key, fingerprint } = keyOf(request, work);
  const claim = await claimIdempotencyKey(tx, identity, key, fingerprint);
  if (claim.state !== 'new') return repeated(route, reply, claim);
  const body = await work.run({ ...deps, pool: poolWithin(tx) });
  const kept = route.secretAnswer === true ? null : body;
  await keepAnswer(tx, identity, key, fingerprint, { status: route.status, body: kept });
  return body;
}

/** Idempotency keys of end customers are separate from the tenant's and from each other's. */
const keyOf = (
  request: FastifyRequest,
  { key, identity }: { readonly key: string; readonly identity: Identity },
) => ({
  key: identity.customer_id ? `${identity.customer_id}:${key}` : key,
  fingerprint: requestFingerprint(request.method, request.url, request.body),
});

/** The stored answer of the first request, or the reason why there is none. */
function repeated(
  route: Pick<Route, 'secretAnswer'>,
  reply: FastifyReply,
  claim: Exclude<KeyState, { state: 'new' }>,
): unknown {
  if (claim.state === 'busy') {
    const message = 'A request with this Idempotency-Key is running. Repeat it shortly.';
    throw new BillingError('conflict', 'idempotency_key_in_use', message);
  }
  if (claim.state === 'reused') {
    const message = 'This Idempotency-Key was used for a different request.';
    throw new BillingError('conflict', 'idempotency_key_reused', message);
  }
  if (route.secretAnswer === true) {
    const message = 'The request was done. Its answer showed a credential and was not kept.';
    throw new BillingError('conflict', 'answer_not_kept', message);
  }
  void reply.header('idempotent-replayed', 'true');
  return claim.answer.body;
}
