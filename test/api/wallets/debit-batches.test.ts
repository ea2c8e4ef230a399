import { auditWallets } from '../../../api/billing/credits/audit-wallets.ts';
import type { WalletRow } from '../../../api/billing/credits/wallet-repository.ts';
import { debitWallet } from '../../../api/billing/wallets/debit-queue.ts';
import { freezeWallet } from '../../../api/billing/wallets/freeze-wallet.ts';
import { seededRandom } from '../../../bench/random.ts';
import { decimal, decimalText } from '../../../domain/money.ts';
import { connectPostgres, type Pool } from '../../../postgres/client.ts';
import { scopedPool } from '../../../postgres/scoped-pool.ts';
import { startTestApi, type TestApi, type TestCaller } from '../../support/api.ts';
import { catalogOf } from '../../support/catalog.ts';
import { eventually } from '../../support/metering-world.ts';

/**
 * Debits of one environment that arrive together share a transaction: the first runs alone, because it does not
 * wait, and all that arrive while it runs are in the second, up to a hundred.
 */
let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

async function walletOf(credits: string, of: TestCaller = api): Promise<WalletRow> {
  const customer = await catalogOf(of).customer();
  const made = await of.post('/v1/wallets', {
    customer_id: customer.id,
    currency: 'usd',
    initial_credits_to_load: credits,
  });
  expect(made.status).toBe(200);
  return made.body as WalletRow;
}

let requests = 0;
/** A debit of one request in this process; `pool` is the process's. */
function debit(
  wallet: { readonly id: string },
  credits: string,
  key: string,
  { of = api, pool = api.pool }: { of?: TestCaller; pool?: Pool } = {},
): Promise<WalletRow> {
  const { scope, user_id } = of;
  const request_id = `request ${(requests += 1)}`;
  const actor = { kind: 'user', user_id, request_id, user_agent: `agent of ${user_id}` } as const;
  const deps = { ...api.deps, pool: scopedPool(pool, { scope, actor }) };
  return debitWallet(deps, { scope, user_id }, wallet.id, {
    credits,
    transaction_reason: 'MANUAL_BALANCE_DEBIT',
    idempotency_key: key,
    description: null,
    metadata: undefined,
  });
}

/** The outcome of each debit: the credits that are left, or the kind of its refusal. */
async function outcomes(debits: readonly Promise<WalletRow>[]): Promise<string[]> {
  const settled = await Promise.allSettled(debits);
  return settled.map((one) =>
    one.status === 'fulfilled'
      ? one.value.credit_balance
      : String((one.reason as { code?: unknown }).code),
  );
}

interface Row {
  readonly id: string;
  readonly idempotency_key: string;
  readonly credit_balance_before: string;
  readonly credit_balance_after: string;
  readonly created_by: string;
  readonly transaction: string;
}
const rowsOf = (wallet: { readonly id: string }) => api.pool<Row[]>`
  select id, idempotency_key, credit_balance_before, credit_balance_after, created_by,
         xmin::text as transaction
    from wallet_transactions where wallet_id = ${wallet.id} and type = 'debit'
   order by created_at, id`;

/** Holds the lock of the wallet until the result is called. */
async function locked(wallet: { readonly id: string }): Promise<() => Promise<void>> {
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  let held = (): void => {};
  const holds = new Promise<void>((resolve) => (held = resolve));
  const ended = api.pool.begin(async (tx) => {
    await tx`select from wallets where id = ${wallet.id} for update`;
    held();
    await released;
  });
  await holds;
  return async () => {
    release();
    await ended;
  };
}

test('twelve debits are two transactions, in their order; each answer is the wallet after its debit', async () => {
  const wallet = await walletOf('10');
  const left = await outcomes(
    Array.from({ length: 12 }, (_, index) => debit(wallet, '1', `order ${index}`)),
  );
  expect(left).toEqual(['9', '8', '7', '6', '5', '4', '3', '2', '1', '0', '-1', '-2']);
  const rows = await rowsOf(wallet);
  expect(rows.map((row) => row.idempotency_key)).toEqual(left.map((_, index) => `order ${index}`));
  expect(rows.map((row) => row.credit_balance_after)).toEqual(left);
  expect(rows.slice(1).map((row) => row.credit_balance_before)).toEqual(left.slice(0, -1));
  expect(new Set(rows.map((row) => row.transaction)).size).toBe(2);
  expect((await auditWallets(api.pool)).faulty).toEqual([]);
});

test('more debits than a transaction takes: each wallet has its own in their order', async () => {
  const wallets = await Promise.all(Array.from({ length: 30 }, () => walletOf('10')));
  const numbers = Array.from({ length: 360 }, (_, index) => index);
  const keyOf = (index: number): string => `of thirty ${String(index).padStart(3, '0')}`;
  const left = await outcomes(
    numbers.map((index) => debit(wallets[index % 30]!, '1', keyOf(index))),
  );
  expect(left).toEqual(numbers.map((index) => String(9 - Math.floor(index / 30))));
  for (const [place, wallet] of wallets.entries())
    expect((await rowsOf(wallet)).map((row) => row.idempotency_key)).toEqual(
      numbers.filter((index) => index % 30 === place).map(keyOf),
    );
  expect((await auditWallets(api.pool)).faulty).toEqual([]);
});

test('every row has its own author, and its audit entry its own caller', async () => {
  const wallet = await walletOf('10');
  const callers = [api, await api.newCaller({ beside: api }), await api.newCaller({ beside: api })];
  const first = requests;
  await Promise.all(callers.map((of, index) => debit(wallet, '1', `author ${index}`, { of })));
  const rows = await rowsOf(wallet);
  expect(rows.map((row) => row.created_by)).toEqual(callers.map((of) => of.user_id));
  const entries = await api.pool`
    select entity_id, user_id, request_id, user_agent from audit_log
     where entity_id = any(${rows.map(({ id }) => id)}) order by sequence`;
  expect([...entries]).toEqual(
    rows.map(({ id }, index) => ({
      entity_id: id,
      user_id: callers[index]!.user_id,
      request_id: `request ${first + index + 1}`,
      user_agent: `agent of ${callers[index]!.user_id}`,
    })),
  );
  const [stored] = await api.pool`select updated_by from wallets where id = ${wallet.id}`;
  expect(stored).toEqual({ updated_by: callers[2]!.user_id });
});

test('a debit in the middle is refused alone, and a key that comes twice writes one row', async () => {
  const wallet = await walletOf('10');
  const left = await outcomes([
    debit(wallet, '1', 'middle 0'),
    debit(wallet, '2', 'middle 1'),
    debit(wallet, '2', 'middle 1'),
    debit(wallet, '3', 'middle 1'),
    debit(wallet, '1', 'system:mine'),
    debit(wallet, '1', 'middle 2'),
  ]);
  expect(left).toEqual(['9', '7', '7', 'idempotency_key_reused', 'validation_error', '6']);
  expect((await rowsOf(wallet)).map((row) => row.idempotency_key)).toEqual([
    'middle 0',
    'middle 1',
    'middle 2',
  ]);
});

test('a debit that the database refuses fails alone', async () => {
  const wallet = await walletOf('10');
  const much = '9'.repeat(20);
  const left = await outcomes([
    debit(wallet, '1', 'much 0'),
    debit(wallet, '1', 'much 1'),
    debit(wallet, much, 'much 2'),
    debit(wallet, much, 'much 3'),
    debit(wallet, '1', 'much 4'),
  ]);
  expect(left).toEqual([
    '9',
    '8',
    `-${decimalText(decimal(much).minus(8))}`,
    '22003',
    expect.any(String),
  ]);
  expect((await rowsOf(wallet)).map((row) => row.idempotency_key)).toEqual([
    'much 0',
    'much 1',
    'much 2',
    'much 4',
  ]);
});

test('a frozen wallet and an unknown one refuse, others of the same transaction are done', async () => {
  const [frozen, open] = [await walletOf('10'), await walletOf('10')];
  await freezeWallet(api.deps, frozen.id, 'freeze');
  const left = await outcomes([
    debit(open, '1', 'frozen 0'),
    debit(frozen, '1', 'frozen 1'),
    debit({ id: 'wallet_unknown' }, '1', 'frozen 2'),
    debit(open, '1', 'frozen 3'),
  ]);
  expect(left).toEqual(['9', 'invalid_operation', 'not_found', '8']);
});

test('a locked wallet delays its own debits only, and they keep their order', async () => {
  const [held, open] = [await walletOf('10'), await walletOf('10')];
  const release = await locked(held);
  const waiting = [debit(held, '1', 'held 0'), debit(held, '1', 'held 1')];
  expect(await outcomes([debit(open, '1', 'open 0'), debit(open, '1', 'open 1')])).toEqual([
    '9',
    '8',
  ]);
  waiting.push(debit(held, '1', 'held 2'));
  await release();
  expect(await outcomes(waiting)).toEqual(['9', '8', '7']);
});

test('a connection that is lost before the commit leaves nothing of the transaction', async () => {
  const wallet = await walletOf('10');
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  let blocks = (): void => {};
  const blocking = new Promise<void>((resolve) => (blocks = resolve));
  const ended = api.pool.begin(async (tx) => {
    await tx`lock table outbox in share mode`;
    blocks();
    await released;
  });
  await blocking;
  const keys = Array.from({ length: 4 }, (_, index) => `lost ${index}`);
  const lost = outcomes(keys.map((key) => debit(wallet, '1', key)));
  // Two transactions meet the lock, one after the other: the first debit's and that of the others.
  const killed: number[] = [];
  while (killed.length < 2)
    await eventually(async () => {
      const [blocked] = await api.pool<{ pid: number }[]>`
        select pid from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock' and query ilike '%outbox%'
           and not pid = any(${killed}::integer[])`;
      expect(blocked).toBeDefined();
      await api.pool`select pg_terminate_backend(${blocked!.pid})`;
      killed.push(blocked!.pid);
    });
  release();
  await ended;
  expect(await lost).toEqual(
    Array(4).fill(expect.stringMatching(/57P01|CONNECTION_CLOSED|ECONNRESET/)),
  );
  expect(await rowsOf(wallet)).toHaveLength(0);
  expect(await outcomes(keys.map((key) => debit(wallet, '1', key)))).toEqual(['9', '8', '7', '6']);
});

test('two processes debit one wallet: every credit is spent once, and a key that both use writes one row', async () => {
  const wallet = await walletOf('100');
  const { host, port, database, user, pass } = api.pool.options as unknown as Record<
    string,
    string
  >;
  const url = `postgres://${user}:${encodeURIComponent(pass ?? '')}@${[host].flat()[0]}:${[port].flat()[0]}/${database}`;
  const other = connectPostgres({ url, applicationName: 'test', maxConnections: 4 });
  try {
    const debits = Array.from({ length: 40 }, (_, index) => [
      debit(wallet, '1', `both ${index}`),
      debit(wallet, '1', index < 20 ? `both ${index}` : `other ${index}`, { pool: other }),
    ]).flat();
    expect(await outcomes(debits)).not.toContainEqual(expect.stringMatching(/[a-z]/));
  } finally {
    await other.end({ timeout: 1 });
  }
  const rows = await rowsOf(wallet);
  expect(rows).toHaveLength(60);
  expect((await api.get(`/v1/wallets/${wallet.id}`)).body.credit_balance).toBe('40');
  expect((await auditWallets(api.pool)).faulty).toEqual([]);
});

test('two tenants at once: each sees its own wallets only, over HTTP with its key', async () => {
  const other = await api.newCaller();
  const [mine, theirs] = [await walletOf('10'), await walletOf('10', other)];
  const post = (of: TestCaller, { id }: { id: string }, key: string) =>
    of.post(`/v1/wallets/${id}/debit`, {
      credits: '1',
      transaction_reason: 'MANUAL_BALANCE_DEBIT',
      idempotency_key: key,
    });
  const answers = await Promise.all([
    post(api, mine, 'tenants 0'),
    post(other, theirs, 'tenants 0'),
    post(api, theirs, 'tenants 1'),
    post(other, mine, 'tenants 2'),
    post(api, mine, 'tenants 3'),
    post(other, theirs, 'tenants 4'),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 404, 200, 200]);
  for (const [wallet, scope] of [
    [mine, api.scope],
    [theirs, other.scope],
  ] as const) {
    const rows = await api.pool`
      select distinct tenant_id, environment_id from wallet_transactions where wallet_id = ${wallet.id}`;
    expect([...rows]).toEqual([scope]);
    expect((await rowsOf(wallet)).map((row) => row.credit_balance_after)).toEqual(['9', '8']);
  }
});

test('an Idempotency-Key keeps its answer beside debits without one', async () => {
  const wallet = await walletOf('10');
  const post = (key: string, headers: object = {}) =>
    api.post(
      `/v1/wallets/${wallet.id}/debit`,
      { credits: '1', transaction_reason: 'MANUAL_BALANCE_DEBIT', idempotency_key: key },
      headers,
    );
  const first = await post('header 0', { 'idempotency-key': 'header' });
  const [again] = await Promise.all([
    post('header 0', { 'idempotency-key': 'header' }),
    post('header 1'),
    post('header 2'),
  ]);
  expect(again.headers['idempotent-replayed']).toBe('true');
  expect(again.body).toEqual(first.body);
  expect(first.body.credit_balance).toBe('9');
  expect(await rowsOf(wallet)).toHaveLength(3);
});

test('the alert of a wallet is announced once for the debits of a transaction', async () => {
  const customer = await catalogOf(api).customer();
  const { body: wallet } = await api.post('/v1/wallets', {
    customer_id: customer.id,
    currency: 'usd',
    initial_credits_to_load: '10',
    alert_settings: { alert_enabled: true, critical: { threshold: '5', condition: 'below' } },
  });
  const states = await Promise.all(
    Array.from({ length: 8 }, (_, index) => debit(wallet, '1', `alert ${index}`)),
  );
  expect(states.at(-1)!.alert_state).toBe('in_alarm');
  const events = await api.pool`
    select event_type from outbox where entity_id = ${wallet.id} and event_type like 'wallet.%balance.%'`;
  expect(events.map(({ event_type }) => event_type).sort()).toEqual([
    'wallet.credit_balance.dropped',
    'wallet.ongoing_balance.dropped',
  ]);
});

test('a balance that is read between debits adds up', async () => {
  const wallet = await walletOf('100');
  const answers = await Promise.all(
    Array.from({ length: 30 }, async (_, index) => {
      if (index % 2 === 1) await debit(wallet, '1', `read ${index}`);
      return (await api.get(`/v1/wallets/${wallet.id}/balance/real-time`)).body;
    }),
  );
  expect(answers.map((one) => one.real_time_credit_balance)).toEqual(
    answers.map((one) => one.credit_balance),
  );
});

test('beyond the bound of a queue debits are refused with 503, and done when repeated', async () => {
  const wallet = await walletOf('10');
  const release = await locked(wallet);
  const debits = Array.from({ length: 1_101 }, (_, index) => debit(wallet, '1', `many ${index}`));
  const all = outcomes(debits);
  await expect(debits.at(-1)).rejects.toMatchObject({ code: 'service_unavailable' });
  await release();
  const left = await all;
  expect(left.filter((one) => one === 'service_unavailable')).toHaveLength(100);
  expect(await outcomes([debit(wallet, '1', 'many 1100')])).toEqual(['-992']);
});

const SEED = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);
test(`random debits of three wallets agree with an account that adds them up, SEED=${SEED}`, async () => {
  const random = seededRandom(SEED);
  const wallets = [await walletOf('20'), await walletOf('30'), await walletOf('40')];
  const account = new Map(wallets.map(({ id, credit_balance }) => [id, decimal(credit_balance)]));
  const seen = new Map<string, readonly [string, string]>();
  for (let round = 0; round < 12; round += 1) {
    const asked = Array.from({ length: random.integer(1, 15) }, (_, index) => {
      const repeats = seen.size > 0 && random.chance(0.2);
      const key = repeats ? random.pick([...seen.keys()]) : `random ${round}.${index}`;
      const wallet = random.pick(wallets);
      const credits = decimalText(decimal(String(random.integer(1, 500))).div(100));
      const [id, same] = repeats && random.chance(0.7) ? seen.get(key)! : [wallet.id, credits];
      const before = seen.get(key);
      const expected = before === undefined || (before[0] === id && before[1] === same);
      if (before === undefined) {
        seen.set(key, [id, same]);
        account.set(id, account.get(id)!.minus(same));
      }
      const left = expected ? decimalText(account.get(id)!) : 'idempotency_key_reused';
      return { id, credits: same, key, left };
    });
    const done = await outcomes(asked.map(({ id, credits, key }) => debit({ id }, credits, key)));
    expect(done).toEqual(asked.map(({ left }) => left));
  }
  expect((await auditWallets(api.pool)).faulty).toEqual([]);
});
