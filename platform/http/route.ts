import type { z } from 'zod';
import type { Permission } from '../../domain/access/permissions.ts';
import type { Pool, Scope } from '../../postgres/client.ts';
import type { CommandClaim } from '../../postgres/tables/idempotency.ts';
import type { Identity } from '../identity/identity.ts';

/**
 * The only way to declare a route. Validation, the permission check, the OpenAPI document and, in tests, the
 * check of every answer derive from this value. A handler may throw `BillingError`; its resolved value is the
 * answer's body.
 */
export interface RouteSpec<
  Deps,
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Answer extends z.ZodType,
> {
  readonly method: Method;
  /** Below the version prefix, with parameters in braces: `/plans/{id}`. */
  readonly path: string;
  readonly summary: string;
  readonly permission: RoutePermission;
  /** Refuses keys of service accounts, even with all roles. */
  readonly humanOnly?: boolean;
  /** Only a person (not a key of a service account) who is super admin, regardless of other permissions. */
  readonly humanSuperAdminOnly?: boolean;
  /** Refuses keys: only a person who is logged in has passwords and sessions. */
  readonly sessionOnly?: boolean;
  /** A person's session needs a recent login: for credentials, rights and money that leaves. Keys do not. */
  readonly recentLogin?: boolean;
  /** A person's session need not name an environment: the route concerns the whole tenant. */
  readonly withoutEnvironment?: boolean;
  /** The answer shows a credential once: it is not stored for a repeat with the same Idempotency-Key. */
  readonly secretAnswer?: boolean;
  /**
   * The command begins its own transactions (`runCommand`), because it reads usage or takes long. Without
   * this, a request with an Idempotency-Key is one transaction together with its answer.
   */
  readonly ownsTransactions?: boolean;
  readonly params?: Params;
  readonly query?: Query;
  /** An optional schema (`Body.optional()`) lets the body be absent. */
  readonly body?: Body;
  /** Content type of a body that is not JSON, for example `text/csv`: `body` then validates a `Buffer`. */
  readonly bodyType?: string;
  /** The only success status. */
  readonly status: number;
  /** Null means that the answer has no body. */
  readonly answer: Answer | null;
  /** Schema of the 202 answer, which the handler selects with `accepted()`: the rest is done later. */
  readonly acceptedAnswer?: z.ZodType;
  /** Content type of an answer that is not JSON; `answer` is then null. */
  readonly contentType?: string;
  readonly bodyLimitBytes?: number;
  readonly deprecated?: boolean;
  handler(
    call: Call<Deps, z.output<Params>, z.output<Query>, z.output<Body>>,
  ): Promise<z.input<Answer>>;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/**
 * `authenticated`: every caller with a valid credential. `public`: no credential is checked. `portal`: a
 * portal session only; it is refused on all other routes.
 */
export type RoutePermission = Permission | 'authenticated' | 'public' | 'portal';

/** One request as passed to a handler: parsed, permitted and scoped. */
export interface Call<Deps, Params, Query, Body> {
  /**
   * `deps.pool` reads and changes rows of the caller's scope only, even if a statement has no scope. With an
   * Idempotency-Key it is inside the transaction that also stores the answer, unless the command owns its
   * transactions.
   */
  readonly deps: Deps;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly scope: Scope;
  /** The person or service account behind the credential; stored as `created_by`. */
  readonly user_id: string;
  /** On a public route every field is empty. */
  readonly identity: Identity;
  readonly request_id: string;
  /** Header values as sent, names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The caller's address. */
  readonly ip: string;
  setHeader(name: string, value: string): void;
  /** Answers 202 with the handler's result; for routes with an `acceptedAnswer`. */
  accepted(): void;
  /**
   * Reports fields of the body that only the handler can recognize as unknown; 400 if the client is strict.
   */
  ignore(paths: readonly string[]): void;
  /** Runs after the commit and before the answer is sent; not after a refusal. */
  afterCommit(work: () => Promise<void>): void;
}

/** A declared route after type checking, with the types erased so that routes fit in one list. */
export interface Route<Deps = unknown> extends Omit<
  RouteSpec<Deps, z.ZodType, z.ZodType, z.ZodType, z.ZodType>,
  'handler'
> {
  handler(call: Call<Deps, unknown, unknown, unknown>): Promise<unknown>;
}

export interface RouteDeps {
  readonly pool: Pool;
  /** Idempotency keys that the command holds; each of its writing transactions records its result in them. */
  readonly claims?: readonly CommandClaim[];
}

/** `const route = routesOf<MyDeps>()`, then one `route({...})` per route. */
export function routesOf<Deps extends RouteDeps>() {
  return <
    Params extends z.ZodType = z.ZodUndefined,
    Query extends z.ZodType = z.ZodUndefined,
    Body extends z.ZodType = z.ZodUndefined,
    Answer extends z.ZodType = z.ZodUndefined,
  >(
    spec: RouteSpec<Deps, Params, Query, Body, Answer>,
  ): Route<Deps> => spec as unknown as Route<Deps>;
}

const PERMISSION = /^(public|authenticated|portal|[a-z_]+:(read|write))$/;

/** Throws if a route is declared incorrectly. Runs at start-up, before any request. */
export function assertRoutes(routes: readonly Route<never>[]): void {
  const seen = new Set<string>();
  for (const route of routes) {
    const name = `${route.method} ${route.path}`;
    if (!PERMISSION.test(String(route.permission))) throw new Error(`${name} has no permission`);
    const reads = route.method === 'GET' && !route.humanSuperAdminOnly && !route.secretAnswer;
    if (reads && route.permission.endsWith(':write'))
      throw new Error(`${name} reads, but asks for a write permission`);
    if (!/^(\/([a-z0-9_.-]+|\{[a-z_]+\}))+$/.test(route.path))
      throw new Error(`${name}: the path is written /nouns/{id}`);
    const placeholders = [...route.path.matchAll(/\{([a-z_]+)\}/g)].length;
    if (placeholders > 0 && route.params === undefined)
      throw new Error(`${name} has parameters without a schema`);
    if (route.ownsTransactions === true && route.method !== 'POST')
      throw new Error(`${name}: a conditional route is one transaction`);
    if (seen.has(name.replace(/\{[a-z_]+\}/g, '{}'))) throw new Error(`${name} is declared twice`);
    seen.add(name.replace(/\{[a-z_]+\}/g, '{}'));
  }
}

/** The path as Fastify writes it: `/v1/plans/:id`. */
export const urlOf = (prefix: string, { path }: Pick<Route, 'path'>): string =>
  prefix + path.replace(/\{([a-z_]+)\}/g, ':$1');

/** Whether requests of the route change nothing. */
export const onlyReads = (route: Pick<Route, 'method' | 'permission'>): boolean =>
  route.method === 'GET' || route.permission.endsWith(':read');
