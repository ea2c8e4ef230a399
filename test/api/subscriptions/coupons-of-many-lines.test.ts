import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf, type TestCatalog } from '../../support/catalog.ts';

const LINES = 8;

let api: TestApi;
let catalog: TestCatalog;
beforeAll(async () => {
  api = await startTestApi();
  catalog = catalogOf(api);
  await api.pool`create table coupon_statements (kind text)`;
  await api.pool`
    create function count_coupon_statement() returns trigger language plpgsql security definer as $$
    begin insert into coupon_statements values (tg_op); return null; end $$`;
  await api.pool`
    create trigger count_statements after insert or update on coupon_associations
       for each statement execute function count_coupon_statement()`;
});
afterAll(() => api.close());

/** How many statements change the associations of coupons while the call runs. */
async function statementsOf(call: () => Promise<unknown>): Promise<Record<string, number>> {
  await api.pool`truncate coupon_statements`;
  await call();
  const rows = await api.pool<{ kind: string; count: number }[]>`
    select kind, count(*)::integer as count from coupon_statements group by kind order by kind`;
  return Object.fromEntries(rows.map(({ kind, count }) => [kind, count]));
}

/** Fees of 1.00, each with a coupon of its own of 10 %. */
async function sold(cadence: object, more: object = {}) {
  const plan = await catalog.plan();
  const prices: { id: string }[] = [];
  for (let line = 0; line < LINES; line += 1) prices.push(await catalog.fixed(plan, '1'));
  const coupon = await api.postOk('/v1/coupons', {
    ...{ name: 'C', type: 'percentage', percentage_off: '10' },
    ...cadence,
  });
  return await catalog.subscribe(await catalog.customer(), plan, {
    line_item_coupons: Object.fromEntries(prices.map(({ id }) => [id, [coupon.id]])),
    ...more,
  });
}
const associations = async ({ id }: { id: string }) =>
  (await api.get(`/v1/coupons/associations?subscription_ids=${id}`)).body.items as any[];

describe('coupons of many lines change in as many statements as those of one', () => {
  test.each([
    ['go on with the next versions', { cadence: 'forever' }, 2 * LINES, { INSERT: 1, UPDATE: 1 }],
    ['that count once move to them', { cadence: 'once' }, LINES, { UPDATE: 1 }],
  ])('they %s', async (_, cadence, count, statements) => {
    const subscription = await sold(cadence);
    api.clock.advance(86_400_000);
    const line_items = subscription.line_items.map(({ id }: any) => ({ id, quantity: '2' }));
    const change = { type: 'quantity_change', quantity_change_params: { line_items } };
    const path = `/v1/subscriptions/${subscription.id}/modify/execute`;
    expect(await statementsOf(() => api.postOk(path, change))).toEqual(statements);
    const all = await associations(subscription);
    expect(all).toHaveLength(count);
    const lines = (await api.get(`/v1/subscriptions/${subscription.id}`)).body.line_items;
    const running = lines.filter(({ quantity }: any) => quantity === '2').map(({ id }: any) => id);
    const open = all.filter(({ end_date }) => end_date === null);
    expect(open.map((row) => row.subscription_line_item_id).sort()).toEqual(running.sort());
  });

  test('they begin with a draft that is activated later', async () => {
    const subscription = await sold({ cadence: 'forever' }, { subscription_status: 'draft' });
    api.clock.advance(86_400_000);
    const start_date = new Date(api.clock.now()).toISOString();
    const path = `/v1/subscriptions/${subscription.id}/activate`;
    expect(await statementsOf(() => api.postOk(path, { start_date }))).toEqual({ UPDATE: 1 });
    const starts = (await associations(subscription)).map((row) => row.start_date);
    expect(starts).toEqual(Array.from({ length: LINES }, () => start_date));
  });
});
