import { z } from 'zod';
import { API_ROUTES } from '../../api/routes.ts';
import { scopesWithAlerts } from '../../api/billing/alerts/watched-repository.ts';
import { scopesWithWatchedWallets } from '../../api/billing/balances/watched-wallet-repository.ts';
import {
  overdueInvoices,
  scopesWithOverdueInvoices,
} from '../../api/billing/records/due-invoice-repository.ts';
import { connectPostgres, type Pool, type Scope } from '../../postgres/client.ts';
import { API_ROLE } from '../../postgres/scoped-pool.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { databaseUrl } from '../support/global-setup.ts';
import { createWorld, type World } from '../support/world.ts';

/** Copies of every record of a contract, in the same environment. */
const COPIES = 20_000;
/** Most pages of 8 kB that one statement may read. A list of 20 rows reads far fewer, and all copies are far more. */
const PAGES_MAX = 400;

/** Tables that the world must have a row of, among others. */
const CONTRACT = [
  'credit_notes', 'customers', 'invoice_line_items', 'invoices', 'payments', 'refunds', 'subscription_line_items',
  'subscriptions', 'wallet_transactions', 'wallets',
]; // prettier-ignore
/** Columns that a copy shares with its original. */
const SHARED = /^(tenant_id|environment_id|currency|kind)$|type$|status$|reason$/;

/** Routes about one contract that compute and write nothing. */
const COMPUTED: readonly (readonly [string, (ids: Ids) => object])[] = [
  ['/invoices/preview', ({ subscription: subscription_id }) => ({ subscription_id })],
  ['/subscriptions/usage', ({ subscription: subscription_id }) => ({ subscription_id })],
  [
    '/subscriptions/{subscription}/modify/preview',
    ({ line }) => ({
      type: 'quantity_change',
      quantity_change_params: { line_items: [{ id: line, quantity: '3' }] },
    }),
  ],
];

/** Every list, by each record of a contract that it can be asked for. */
const LISTS = API_ROUTES.filter(
  ({ method, path }) => method === 'POST' && path.endsWith('/search'),
).flatMap(({ path, body }) => {
  const { properties = {} } = z.toJSONSchema(body!, { io: 'input', unrepresentable: 'any' });
  return (['customer', 'subscription', 'invoice'] as const).flatMap((record) =>
    [`${record}_id`, `${record}_ids`]
      .filter((field) => field in properties)
      .map((field) => ({ path, record, field })),
  );
});

interface Ids {
  readonly customer: string;
  readonly subscription: string;
  readonly invoice: string;
  readonly line: string;
}

interface Statement {
  readonly text: string;
  readonly parameters: readonly unknown[];
  readonly route: string;
}

describe('what is asked about one record', () => {
  let api: TestApi;
  let world: World;
  let ids: Ids;
  let route = '';
  const sent: Statement[] = [];
  beforeAll(async () => {
    api = await startTestApi({
      onStatement: (text, parameters) => void sent.push({ text, parameters, route }),
    });
    world = await createWorld(api);
    ids = await contractOf(api);
    await copyContracts(api.pool);
  });
  afterAll(async () => {
    // A copy of a wallet has one of its transactions, and the balance of all.
    await api.pool`
      update wallets w set credit_balance = t.credit_amount, balance = t.credit_amount,
                           credits_in_blocks = t.credits_available, overdraft = 0
        from wallet_transactions t where t.wallet_id = w.id and w.id like '%-%'`;
    await api.close();
  });

  test(`reads at most ${PAGES_MAX} pages a statement among ${COPIES} contracts`, async () => {
    sent.length = 0;
    let asked = 0;
    for (const { method, path, permission } of API_ROUTES) {
      const id = /^[^{]*\{[^}]+\}/.exec(path)?.[0];
      if (method !== 'GET' || id === undefined || !/:read$/.test(permission)) continue;
      const foreign = world.foreign[id];
      if (foreign === undefined || path.slice(id.length).includes('{')) continue;
      route = `${method} ${path}`;
      const { status } = await api.get(`/v1${path.replace(/\{[^}]+\}/, foreign)}`);
      if (status === 200) asked += 1;
    }
    expect(asked).toBeGreaterThan(30);
    const post = async (path: string, body: object) => {
      route = `POST ${path} ${Object.keys(body).join(' ')}`;
      const answer = await api.post(`/v1${path}`, body);
      if (answer.status !== 200) throw new Error(`${route}: ${JSON.stringify(answer.body)}`);
    };
    for (const [path, bodyOf] of COMPUTED)
      await post(path.replace('{subscription}', ids.subscription), bodyOf(ids));
    for (const [path, filter] of Object.entries(world.filters)) await post(path, filter);
    for (const { path, record, field } of LISTS)
      await post(path, { [field]: field.endsWith('s') ? [ids[record]] : ids[record] });
    expect(await wide(api.pool, sent, api.scope)).toEqual([]);
  });

  test('the jobs that notify find their work without reading each contract', async () => {
    const looked: Statement[] = [];
    const [{ name } = { name: '' }] = await api.pool<{ name: string }[]>`
      select current_database() as name`;
    const pool = connectPostgres({
      url: databaseUrl(process.env['TEST_POSTGRES_URL']!, name),
      applicationName: 'test',
      onStatement: (text, parameters) => void looked.push({ text, parameters, route: 'job' }),
    });
    const timeline = { at: new Date(api.clock.now()).toISOString() };
    // Reported long ago, and still not paid.
    await api.pool`
      update invoices set invoice_status = 'FINALIZED', payment_status = 'PENDING', amount_paid = 0,
                          amount_due = total, amount_remaining = total, due_date = due.at, overdue_notified_for = due.at
        from (select id, timestamptz '2022-01-01' + row_number() over () * interval '1 hour' as at from invoices) due
       where due.id = invoices.id and due.id like '%-%'`;
    await api.pool.unsafe('vacuum analyze invoices');
    await scopesWithOverdueInvoices(pool, timeline);
    await overdueInvoices(pool, api.scope, { due: timeline, after: '', limit: 100 });
    await scopesWithAlerts(pool, 'spend', timeline);
    await scopesWithAlerts(pool, 'grants', timeline);
    await scopesWithWatchedWallets(pool, timeline);
    await pool.end();
    expect(distinct(looked).length).toBe(5);
    expect(await wide(api.pool, looked, null)).toEqual([]);
  });
});

/** The statements that read too many pages, with their routes: behind the row security of a scope, or without it. */
async function wide(
  pool: Pool,
  statements: readonly Statement[],
  scope: Scope | null,
): Promise<string[]> {
  const found: string[] = [];
  for (const { text, parameters, route } of distinct(statements)) {
    const pages = await pagesOf(pool, text, parameters, scope);
    if (pages > PAGES_MAX) found.push(`${route}: ${pages} pages: ${text.replace(/\s+/g, ' ')}`);
  }
  return found;
}

async function contractOf(api: TestApi): Promise<Ids> {
  const [row] = await api.pool<Ids[]>`
    select s.id as subscription, s.customer_id as customer, i.id as line,
           (select id from invoices where customer_id = s.customer_id order by id limit 1) as invoice
      from subscriptions s join subscription_line_items i on i.subscription_id = s.id
     where s.subscription_status = 'active' and i.price_type = 'FIXED' and i.billing_period <> 'ONETIME'
     limit 1`;
  return row!;
}

/** Copies one row of each table for each of the contracts. References lead to the copies of the same number. */
async function copyContracts(pool: Pool): Promise<void> {
  await pool.begin(async (tx) => {
    // No triggers, and no checks of references.
    await tx`set local session_replication_role = replica`;
    const tables = await tx<{ name: string }[]>`
      select distinct table_name as name from information_schema.columns
       where table_schema = 'public' and table_name in (
               select table_name from information_schema.columns where column_name = 'environment_id')
         and (table_name in ('customers', 'credit_note_lines') or column_name in (
               'customer_id', 'subscription_id', 'invoice_id', 'payment_id', 'wallet_id'))
       order by 1`;
    const copied: string[] = [];
    for (const { name: table } of tables) {
      const columns = await tx<{ name: string; type: string; is_unique: boolean }[]>`
        select a.attname as name, a.atttypid::regtype::text as type,
               exists (select from pg_index i
                        where i.indrelid = a.attrelid and i.indisunique and a.attnum = any(i.indkey)) as is_unique
          from pg_attribute a
         where a.attrelid = ${table}::regclass and a.attnum > 0 and not a.attisdropped
           and a.attgenerated = '' and a.attidentity = ''`;
      const values = columns.map(({ name, type, is_unique }) =>
        type === 'text' &&
        (is_unique || name === 'id' || name.endsWith('_id')) &&
        !SHARED.test(name)
          ? `made.${name} || '-' || n`
          : `made.${name}`,
      );
      const { count } = await tx.unsafe(
        `insert into ${table} (${columns.map(({ name }) => `"${name}"`).join(', ')})
         select ${values.join(', ')}
           from (select * from ${table} limit 1) made, generate_series(1, ${COPIES}) n
             on conflict do nothing`,
      );
      if (count === COPIES) copied.push(table);
    }
    expect(copied).toEqual(expect.arrayContaining(CONTRACT));
  });
  await pool.unsafe('vacuum analyze');
}

/** One statement of each text, except those that write. */
function distinct(statements: readonly Statement[]): Statement[] {
  const reads = statements.filter(
    ({ text }) =>
      /^\s*(select|with)\b/i.test(text) &&
      !/\b(insert into|update|delete from|set_config)\b/i.test(text),
  );
  return [...new Map(reads.map((one) => [one.text, one])).values()];
}

async function pagesOf(
  pool: Pool,
  text: string,
  parameters: readonly unknown[],
  scope: Scope | null,
): Promise<number> {
  interface Plan {
    readonly Plan: Readonly<Record<string, number>>;
  }
  try {
    return await pool.begin(async (tx) => {
      if (scope !== null)
        await tx`select set_config('meterline.tenant', ${scope.tenant_id}, true),
                        set_config('meterline.environment', ${scope.environment_id}, true),
                        set_config('role', ${API_ROLE}, true)`;
      const [row] = await tx.unsafe(
        `explain (analyze, buffers, format json) ${text}`,
        parameters as never[],
      );
      const [{ Plan: plan }] = row!['QUERY PLAN'] as [Plan];
      return plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!;
    });
  } catch (error) {
    // The role of requests may not read what tells who they are from.
    if (scope === null || (error as { code?: string }).code !== '42501') throw error;
    return await pagesOf(pool, text, parameters, null);
  }
}
