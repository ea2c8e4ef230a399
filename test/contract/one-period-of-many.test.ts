import {
  findInvoiceOfPeriod,
  findInvoicesOfPeriods,
} from '../../api/billing/records/subscription-invoice-repository.ts';
import { connectPostgres } from '../../postgres/client.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { catalogOf } from '../support/catalog.ts';
import { databaseUrl } from '../support/global-setup.ts';

/** Invoices of one subscription: thirty years of days have 10,957. */
const INVOICES = 20_000;
/** Pages of 8 kB. The index of the periods reads a few; all invoices of the subscription are some 2,000. */
const PAGES_MAX = 40;

describe('the invoice of one period of a subscription that has had many', () => {
  let api: TestApi;
  let slot: any;
  beforeAll(async () => {
    api = await startTestApi();
    const catalog = catalogOf(api);
    const plan = await catalog.plan();
    await catalog.fixed(plan, '30');
    const { id } = await catalog.subscribe(await catalog.customer(), plan);
    [slot] = await api.pool`
      select id, subscription_id, period_start, period_end, billing_reason
        from invoices where subscription_id = ${id}`;
    await api.pool.begin(async (tx) => {
      // No triggers: the copies have no lines and are in no count.
      await tx`set local session_replication_role = replica`;
      await tx`
        insert into invoices
        select c.* from invoices i, generate_series(1, ${INVOICES}) n,
               jsonb_populate_record(i, jsonb_build_object(
                 'id', i.id || '-' || n, 'invoice_number', null, 'finalized_at', null, 'invoice_status', 'DRAFT',
                 'idempotency_key', null, 'period_start', i.period_start - n * interval '1 day',
                 'period_end', i.period_end - n * interval '1 day')) c
         where i.id = ${slot.id}`;
    });
    await api.pool`analyze invoices`;
  });
  afterAll(async () => {
    await api.pool.begin(async (tx) => {
      await tx`set local session_replication_role = replica`;
      await tx`delete from invoices where id like '%-%'`;
    });
    await api.close();
  });

  test.each(['SUBSCRIPTION_CYCLE', 'SUBSCRIPTION_UPDATE'])(
    `%s is found in at most ${PAGES_MAX} pages`,
    async (billing_reason) => {
      const sent: { text: string; parameters: readonly unknown[] }[] = [];
      const [{ name } = { name: '' }] = await api.pool<{ name: string }[]>`
        select current_database() as name`;
      const pool = connectPostgres({
        url: databaseUrl(process.env['TEST_POSTGRES_URL']!, name),
        applicationName: 'test',
        onStatement: (text, parameters) => void sent.push({ text, parameters }),
      });
      const { subscription_id, period_start, period_end } = slot;
      const target = {
        subscription: { id: subscription_id },
        period: { start: period_start, end: period_end },
        billing_reason,
      };
      await findInvoicesOfPeriods(pool, api.scope, [target]);
      await findInvoiceOfPeriod(pool, api.scope, { ...slot, billing_reason });
      await pool.end();
      expect(sent.length).toBe(2);
      for (const { text, parameters } of sent) {
        const [row] = await api.pool.unsafe(
          `explain (analyze, buffers, format json) ${text}`,
          parameters as never[],
        );
        const [{ Plan: plan }] = row!['QUERY PLAN'];
        expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThan(PAGES_MAX);
      }
    },
  );

  test('the invoice of the period is found', async () => {
    const { subscription_id, period_start, period_end, billing_reason } = slot;
    const target = {
      subscription: { id: subscription_id },
      period: { start: period_start, end: period_end },
      billing_reason,
    };
    const other = { ...target, billing_reason: 'SUBSCRIPTION_UPDATE' };
    const found = await findInvoicesOfPeriods(api.pool, api.scope, [other, target]);
    expect([...found].map(([of, { id }]) => [of, id])).toEqual([[subscription_id, slot.id]]);
    expect((await findInvoiceOfPeriod(api.pool, api.scope, slot))?.id).toBe(slot.id);
  });
});
