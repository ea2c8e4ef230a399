import { createHash, randomBytes, randomInt } from 'node:crypto';
import fc from 'fast-check';
import { API_ROUTES } from '../../api/routes.ts';
import { allows } from '../../domain/access/permissions.ts';
import { createApiKeyAuth, type ApiKeyAuth } from '../../platform/identity/api-key-auth.ts';
import { startTestApi, type TestAnswer, type TestApi } from '../support/api.ts';

const DEEP = process.env['DEEP'] === '1';
const SEQUENCES = Number(process.env['ESCALATIONS'] ?? (DEEP ? 600 : 25));
const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));

/** What calls are made with: a key, a session of a person, or a portal session. */
interface Credential {
  readonly kind: 'key' | 'session' | 'portal';
  readonly value: string;
  /** The first key, or made by a key that is. */
  readonly isRooted?: boolean;
}

/** One call of a sequence; the numbers choose among what is there when it is made. */
interface Step {
  readonly by: number;
  readonly what: string;
  readonly choice: readonly number[];
}

/** Calls of which a credential's power is made up, each with what it is called here. */
const PROBES: readonly [name: string, method: string, path: string][] = [
  ['plan:read', 'GET', '/plans/x'],
  ['plan:write', 'DELETE', '/plans/x'],
  ['customer:read', 'GET', '/customers/x'],
  ['customer:write', 'DELETE', '/customers/x'],
  ['invoice:read', 'GET', '/invoices/x'],
  ['invoice:write', 'POST', '/invoices/x/void'],
  ['subscription:write', 'POST', '/subscriptions/x/cancel'],
  ['event:read', 'GET', '/events/x'],
  ['secret:read', 'GET', '/secrets/api/keys?limit=x'],
  ['secret:write', 'DELETE', '/secrets/api/keys/x'],
  ['setting:read', 'GET', '/settings/x'],
  ['setting:write', 'PUT', '/settings/x'],
  ['single sign-on', 'PUT', '/settings/saml_config'],
  ['audit_log:read', 'GET', '/audit-logs?limit=x'],
];

/** The same for calls about the tenant, which are in no environment; `X-Environment-ID` has no effect on them. */
const TENANT_PROBES: typeof PROBES = [
  ['user:write', 'PUT', '/users/x'],
  ['roles', 'PUT', '/users/x/roles'],
];

/** Routes that change credentials, people, roles, environments or settings, by the step that calls them. */
const STEPS: Readonly<Record<string, readonly string[]>> = {
  makeKey: ['POST /secrets/api/keys'],
  rotateKey: ['POST /secrets/api/keys/{id}/rotate'],
  deleteKey: ['DELETE /secrets/api/keys/{id}'],
  invite: ['POST /users'],
  makeAccount: ['POST /users'],
  changeRoles: ['PUT /users/{id}/roles'],
  removePerson: ['POST /users/{id}/remove'],
  changeAccount: ['PUT /users/{id}', 'DELETE /users/{id}'],
  changeMe: ['PUT /users/me'],
  makeEnvironment: ['POST /environments'],
  renameEnvironment: ['PUT /environments/{id}'],
  cloneEnvironment: ['POST /environments/{id}/clone'],
  changeSetting: ['PUT /settings/{key}', 'DELETE /settings/{key}'],
  changeTenant: ['PUT /tenants/update'],
  openPortal: ['GET /customers/portal/{external_id}'],
  endPortal: ['DELETE /portal/sessions/{id}', 'DELETE /customers/{id}/portal-sessions'],
};

/** Routes below the same paths that grant no access. */
const NO_STEP: Readonly<Record<string, string>> = {
  'POST /users/search': 'reads',
  'POST /environments/search': 'reads',
  'POST /secrets/api/keys/search': 'reads',
  'POST /portal/sessions/search': 'reads',
  'POST /environments/{id}/seed':
    'for super admins: makes a key with the rights of the caller, which nobody is told',
  'POST /users/chat/verify': 'proves who the caller is to a widget',
  'POST /customers/portal/subscriptions': 'reads',
  'PUT /users/me/password': 'takes the current password, and a session of that person',
  'DELETE /users/me/sessions': 'ends sessions of the caller',
  'DELETE /users/me/sessions/{id}': 'ends a session of the caller',
};
const WATCHED =
  /^\/(users|secrets\/api|environments|settings|tenants|portal|customers\/portal)(\/|$)/;

const ROLES = ['super_admin', 'all_writer', 'all_reader', 'event_ingestor', 'event_reader'];
const SCOPES: readonly (readonly string[] | undefined)[] = [
  undefined,
  ['event:write'],
  ['secret:write', 'user:write'],
  ['*:write'],
  ['*:read', '*:write', 'audit_log:read'],
  ['plan:read'],
  ['read', 'write'],
];

/**
 * No sequence of three permitted calls gives a caller a permission or an environment that it did not have
 * (tenancy 52). What a caller has is asked of the product, before and after, with every credential that the
 * sequence showed it; what an environment holds is looked up in the others afterwards.
 */
describe('escalations', () => {
  let api: TestApi;
  let auth: ApiKeyAuth;
  const tally = { sequences: 0, calls: 0, permitted: 0, probes: 0, gains: 0 };
  beforeAll(async () => {
    api = await startTestApi();
    auth = await createApiKeyAuth({ pool: api.pool, clock: api.clock, ttlMs: 1 });
  });
  afterAll(async () => {
    process.stdout.write(
      `escalations sequences=${tally.sequences} calls=${tally.calls} permitted=${tally.permitted} ` +
        `probes=${tally.probes} gains=${tally.gains} SEED=${SEED}\n`,
    );
    await auth.close();
    await api.close();
  });

  test('every route that changes credentials, people, environments or settings is in the sequences', () => {
    const known = new Set([...Object.values(STEPS).flat(), ...Object.keys(NO_STEP)]);
    const missing = API_ROUTES.filter(
      ({ method, path, permission }) =>
        permission !== 'public' &&
        (method !== 'GET' || path.startsWith('/customers/portal/')) &&
        WATCHED.test(path) &&
        !known.has(`${method} ${path}`),
    ).map(({ method, path }) => `${method} ${path}`);
    expect(missing).toEqual([]);
  });

  const headersOf = (credential: Credential, environment?: string): object => {
    switch (credential.kind) {
      case 'key':
        return { 'x-api-key': credential.value };
      case 'session':
        return {
          'x-api-key': '',
          authorization: `Bearer ${credential.value}`,
          ...(environment === undefined ? {} : { 'x-environment-id': environment }),
        };
      case 'portal':
        return { 'x-api-key': '', 'x-session-token': credential.value };
      default:
        return credential.kind satisfies never;
    }
  };

  /** A tenant with three environments, and in each a plan of its own name. */
  const newWorld = async () => {
    const { pool, deps } = api;
    const { ids } = deps;
    const tenant_id = ids.next('tenant');
    await pool`insert into tenants ${pool({ id: tenant_id, name: 'T' })}`;
    const environment = async (type: string) => {
      const id = ids.next('env');
      await pool`insert into environments ${pool({ id, tenant_id, name: type, type })}`;
      const scope = { tenant_id, environment_id: id };
      await pool`insert into plans ${pool({ id: ids.next('plan'), ...scope, name: `plan of ${id}` })}`;
      await pool`insert into customers ${pool({ id: ids.next('cust'), ...scope, external_id: 'acme', name: 'Acme' })}`;
      return id;
    };
    const own = await environment('development');
    const sandbox = await environment('development');
    const live = await environment('production');
    const account = async (
      type: 'user' | 'service_account',
      role: string,
      within: string[] | null,
    ) => {
      const id = ids.next('user');
      const email = type === 'user' ? `${id}@example.test` : null;
      await pool`insert into users ${pool({ id, tenant_id, type, email, roles: [role], environment_ids: within })}`;
      return { id, role };
    };
    const key = async (
      owner: { id: string; role: string },
      environment_id: string,
      fields: object = {},
    ) => {
      const value = `sk_test_${randomBytes(32).toString('base64url')}`;
      const key_hash = createHash('sha256').update(value).digest();
      const id = ids.next('secret');
      await pool`insert into api_keys ${pool({
        id, tenant_id, environment_id, user_id: owner.id, name: 'k', roles: [owner.role], key_hash, display_id: 'd', ...fields,
      })}`; // prettier-ignore
      return { id, credential: { kind: 'key', value } as const };
    };
    const session = async (person: { id: string }) => {
      const headers = await api.sessionOf({ user_id: person.id, scope: { tenant_id } });
      const value = headers['authorization']!.slice('Bearer '.length);
      return { id: '', credential: { kind: 'session', value } as const };
    };
    const boss = await account('user', 'super_admin', null);
    const other = await account('user', 'super_admin', null);
    const reader = await account('user', 'all_reader', null);
    const writer = await account('user', 'all_writer', null);
    const confined = await account('user', 'super_admin', [own]);
    const stranger = await account('user', 'all_writer', [sandbox]);
    const robot = await account('service_account', 'super_admin', null);
    const ingestor = await account('service_account', 'event_ingestor', null);
    const keys = {
      boss: await key(boss, own),
      live: await key(boss, live),
      robot: await key(robot, own),
      ingestor: await key(ingestor, own),
      writer: await key(writer, own),
      reader: await key(reader, own),
      page: await key(boss, own, { type: 'publishable_key' }),
      narrow: await key(boss, own, {
        permissions: ['user:write', 'secret:write', 'environment:write', 'setting:write'],
      }),
      portal: await key(boss, own, { permissions: ['customer:write', 'secret:write'] }),
      short: await key(boss, own, {
        expires_at: new Date(api.clock.now() + 60_000).toISOString(),
      }),
    };
    const callers = [
      keys.boss,
      keys.live,
      keys.robot,
      keys.ingestor,
      keys.writer,
      keys.narrow,
      keys.portal,
      keys.short,
      await session(confined),
      await session(writer),
      await session(reader),
      await session(boss),
    ];
    return {
      tenant_id,
      environments: [own, sandbox, live],
      people: [boss, other, reader, writer, confined, stranger].map(({ id }) => id),
      accounts: [robot.id, ingestor.id],
      keys: Object.values(keys).map(({ id }) => id),
      callers,
      /** The people at the beginning, each with the environments that it has access to. */
      owners: [boss.id, reader.id, confined.id, stranger.id],
    };
  };
  type World = Awaited<ReturnType<typeof newWorld>>;

  const call = async (
    credential: Credential,
    environment: string,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<TestAnswer> => {
    tally.calls += 1;
    const sent = method === 'GET' || method === 'DELETE' ? undefined : (body ?? {});
    const answer = await api.call(method, `/v1${path}`, sent, headersOf(credential, environment));
    if (answer.status < 400) tally.permitted += 1;
    return answer;
  };

  /** Makes the call; what it shows joins what the caller may use and name from now on. */
  const take = async (step: Step, world: World, held: Credential[]): Promise<void> => {
    const { choice } = step;
    const pick = <T>(values: readonly T[], at: number): T => values[choice[at]! % values.length]!;
    const by = held[step.by % held.length]!;
    const at = pick(world.environments, 3);
    const ask = (method: string, path: string, body?: unknown) => call(by, at, method, path, body);
    const learn = (body: { secret: { id: string }; api_key: string }) => {
      world.keys.push(body.secret.id);
      held.push({ kind: 'key', value: body.api_key, isRooted: by.isRooted === true });
    };
    switch (step.what) {
      case 'makeKey': {
        const answer = await ask('POST', '/secrets/api/keys', {
          name: 'k',
          type: pick(['private_key', 'publishable_key'], 0),
          permissions: pick(SCOPES, 1),
          service_account_id: pick([undefined, undefined, ...world.accounts], 2),
        });
        if (answer.status === 201) learn(answer.body);
        return;
      }
      case 'rotateKey': {
        const path = `/secrets/api/keys/${pick(world.keys, 0)}/rotate`;
        const answer = await ask('POST', path, { overlap_seconds: pick([0, 60], 1) });
        if (answer.status === 201) learn(answer.body);
        return;
      }
      case 'deleteKey':
        await ask('DELETE', `/secrets/api/keys/${pick(world.keys, 0)}`);
        return;
      case 'invite': {
        const email = `${api.deps.ids.next('user')}@example.test`;
        const roles = pick([undefined, ...ROLES.slice(0, 3).map((role) => [role])], 0);
        const answer = await ask('POST', '/users', { type: 'user', email, roles });
        if (answer.status !== 201) return;
        world.people.push(answer.body.id);
        const { password } = answer.body;
        const session = await api.post('/v1/auth/login', { email, password }, { 'x-api-key': '' });
        expect(session.status).toBe(200);
        held.push({ kind: 'session', value: session.body.token });
        return;
      }
      case 'makeAccount': {
        const body = { type: 'service_account', roles: [pick(ROLES, 0)] };
        const answer = await ask('POST', '/users', body);
        if (answer.status === 201) world.accounts.push(answer.body.id);
        return;
      }
      case 'changeRoles':
        await ask('PUT', `/users/${pick(world.people, 0)}/roles`, { roles: [pick(ROLES, 1)] });
        return;
      case 'removePerson':
        await ask('POST', `/users/${pick(world.people, 0)}/remove`);
        return;
      case 'changeAccount': {
        const path = `/users/${pick(world.accounts, 0)}`;
        await ask(pick(['PUT', 'DELETE'], 1), path, { name: 'x', roles: ['super_admin'] });
        return;
      }
      case 'changeMe':
        await ask('PUT', '/users/me', { name: 'x', roles: ['super_admin'], environment_ids: null });
        return;
      case 'makeEnvironment':
        await ask('POST', '/environments', { name: 'x', type: pick(TYPES, 0) });
        return;
      case 'renameEnvironment': {
        const body = { name: 'x', type: pick(['', ...TYPES], 1) };
        await ask('PUT', `/environments/${pick(world.environments, 0)}`, body);
        return;
      }
      case 'cloneEnvironment': {
        const body = pick(
          [
            { target_environment_id: pick(world.environments, 2) },
            { name: 'x', type: 'development' },
            { name: 'x', type: 'production' },
          ],
          1,
        );
        await ask('POST', `/environments/${pick(world.environments, 0)}/clone`, body);
        return;
      }
      case 'changeSetting': {
        const [key, value] = pick(SETTINGS, 0);
        await ask(pick(['PUT', 'PUT', 'DELETE'], 1), `/settings/${key}`, { value });
        return;
      }
      case 'changeTenant':
        await ask('PUT', '/tenants/update', { name: 'x', status: 'active' });
        return;
      case 'openPortal': {
        const answer = await ask('GET', '/customers/portal/acme');
        if (answer.status === 200) held.push({ kind: 'portal', value: answer.body.token });
        return;
      }
      case 'endPortal':
        await ask('DELETE', '/portal/sessions/x');
        return;
      default:
        throw new Error(step.what);
    }
  };

  const TYPES = ['development', 'production'];
  const SETTINGS: readonly [string, object][] = [
    ['tenant_config', { development: 9, production: 9, max_users: 99 }],
    ['saml_config', { enabled: true, default_role: 'all_writer' }],
    ['customer_onboarding', { actions: [] }],
  ];

  /** The permissions of the credential in the environments that existed at the beginning. */
  const powerOf = async (
    credential: Credential,
    environments: readonly string[],
    owners: readonly string[],
  ): Promise<string[]> => {
    const power: string[] = [];
    const ask = async (method: string, path: string, environment: string): Promise<number> => {
      tally.probes += 1;
      const headers = { ...headersOf(credential, environment), 'content-type': 'application/json' };
      // A refusal for want of a right comes before that of the body, but for single sign-on.
      const isEmpty = method === 'GET' || method === 'DELETE';
      const isLate = path === '/settings/saml_config';
      const body = isEmpty ? undefined : isLate ? '{"value":{"enabled":false}}' : '"no object"';
      return (await api.call(method, `/v1${path}`, body, headers)).status;
    };
    const isLet = (status: number): boolean => status !== 401 && status !== 403;
    /** Replaces the person's roles by the same roles: whom the credential reaches, and nothing changes. */
    const mayChange = async (id: string): Promise<boolean> => {
      const [user] = await api.pool<
        { roles: string[] }[]
      >`select roles from users where id = ${id}`;
      const headers = headersOf(credential, environments[0]);
      tally.probes += 1;
      const { status } = await api.call('PUT', `/v1/users/${id}/roles`, user, headers);
      return isLet(status) && status !== 404;
    };
    if (credential.kind === 'portal') {
      const { body, status } = await api.get('/v1/customer/portal/info', headersOf(credential));
      return status === 200 ? [`portal @${body.environment_id}`] : [];
    }
    const identity = credential.kind === 'key' ? await auth.authenticate(credential.value) : null;
    if (credential.kind === 'key' && identity === null) return [];
    const named = identity === null ? environments : [identity.environment_id];
    if (identity !== null && allows(identity.permissions, 'event:write'))
      power.push(`event:write @${identity.environment_id}`);
    if (identity?.publishable !== undefined) return power;
    for (const environment of named) {
      for (const [name, method, path] of PROBES)
        if (isLet(await ask(method, path, environment))) power.push(`${name} @${environment}`);
      if (power.includes(`customer:write @${environment}`)) power.push(`portal @${environment}`);
      // Sessions send events where they write them back.
      if (identity === null && isLet(await ask('POST', '/events/raw/reprocess/all', environment)))
        power.push(`event:write @${environment}`);
    }
    for (const [name, method, path] of TENANT_PROBES)
      if (isLet(await ask(method, path, named[0]!))) power.push(name);
    for (const id of owners) if (await mayChange(id)) power.push(`roles of ${id}`);
    for (const environment of environments) {
      const path = `/environments/${environment}`;
      if ((await ask('GET', path, named[0]!)) === 200) power.push(`sees @${environment}`);
      const renamed = await ask('PUT', path, named[0]!);
      const isSeen = power.includes(`sees @${environment}`);
      if (isSeen && isLet(renamed)) power.push(`changes @${environment}`);
    }
    return power;
  };

  /** Plans of environments that show in another one, as a clone would make them. */
  const copies = async ({ tenant_id }: World): Promise<{ from: string; to: string }[]> => {
    const rows = await api.pool<{ name: string; environment_id: string }[]>`
      select name, environment_id from plans where tenant_id = ${tenant_id}`;
    return rows
      .map(({ name, environment_id }) => ({
        from: name.slice('plan of '.length),
        to: environment_id,
      }))
      .filter(({ from, to }) => from !== to);
  };

  const step = fc.record({
    by: fc.nat(7),
    what: fc.constantFrom(...Object.keys(STEPS)),
    choice: fc.array(fc.nat(1000), { minLength: 4, maxLength: 4 }),
  });
  const sequences = fc.record({
    caller: fc.nat(1000),
    steps: fc.array(step, { minLength: 1, maxLength: 3 }),
  });

  test(
    'no sequence of three calls gives a permission or an environment that the caller did not have',
    async () => {
      process.stdout.write(`escalations: ${SEQUENCES} sequences, SEED=${SEED}\n`);
      await fc.assert(
        fc.asyncProperty(sequences, async ({ caller, steps }) => {
          tally.sequences += 1;
          const world = await newWorld();
          const first = world.callers[caller % world.callers.length]!;
          const environments = [...world.environments];
          const before = new Set(await powerOf(first.credential, environments, world.owners));
          const held: Credential[] = [{ ...first.credential, isRooted: true }];
          for (const one of steps) await take(one, world, held);

          const gains: string[] = [];
          for (const credential of held)
            for (const power of await powerOf(credential, environments, world.owners))
              if (!before.has(power)) gains.push(power);
          for (const { from, to } of await copies(world)) {
            if (!environments.includes(from)) continue;
            if (!before.has(`sees @${from}`)) gains.push(`copied from @${from}`);
            if (environments.includes(to) && !before.has(`changes @${to}`))
              gains.push(`copied into @${to}`);
          }
          tally.gains += gains.length;
          expect(gains).toEqual([]);

          // No key outlives the one that made it.
          if (first.id === '') return;
          const boss = await api.sessionOf(
            { user_id: world.people[1]!, scope: world },
            first === world.callers[1] ? environments[2] : environments[0],
          );
          const deleted = await api.delete(`/v1/secrets/api/keys/${first.id}`, undefined, boss);
          // The steps may have removed whom this asks for.
          if (deleted.status !== 204) return;
          for (const { kind, value, isRooted } of held)
            if (kind === 'key' && isRooted === true)
              expect(await auth.authenticate(value)).toBeNull();
        }),
        { seed: SEED, numRuns: SEQUENCES, endOnFailure: true },
      );
    },
    DEEP ? 3_600_000 : 900_000,
  );
});
