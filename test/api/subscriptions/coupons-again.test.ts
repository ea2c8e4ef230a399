import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf, type TestCatalog } from '../../support/catalog.ts';

const DAY = 86_400_000;

/** A coupon that is removed and added again has one discount, on all versions of its line (billing 7.2, 7.3). */
describe('4.00 off a line whose fee is paid in arrears', () => {
  let api: TestApi;
  let catalog: TestCatalog;
  beforeAll(async () => {
    api = await startTestApi();
    catalog = catalogOf(api);
  });
  afterAll(() => api.close());

  const daysAhead = (days: number): string => new Date(api.clock.now() + days * DAY).toISOString();

  /** Of a line of 31.00 a month, from now on: its coupon, or that of the subscription. */
  async function discounted(isOfSubscription = false) {
    const plan = await catalog.plan();
    const price = await catalog.fixed(plan, '31', { invoice_cadence: 'ARREAR' });
    const { body: coupon } = await api.post('/v1/coupons', {
      name: 'Four', coupon_code: `four-${plan.id}`, type: 'fixed', amount_off: '4', cadence: 'forever', currency: 'usd',
    }); // prettier-ignore
    const subscription = await catalog.subscribe(await catalog.customer(), plan, {
      ...(isOfSubscription
        ? { coupons: [coupon.id] }
        : { line_item_coupons: { [price.id]: [coupon.id] } }),
    });
    const [line] = subscription.line_items!;
    const [association] = subscription.coupon_associations;
    const modify = async (coupon_params: object): Promise<void> => {
      const body = { type: 'coupon', coupon_params };
      const path = `/v1/subscriptions/${subscription.id}/modify/execute`;
      const answer = await api.post(path, body);
      expect([answer.status, answer.body.message]).toEqual([200, undefined]);
    };
    return {
      lineId: line!.id,
      remove: (fields: object = {}, id: string = association!.id) =>
        modify({ action: 'remove', coupon_association_id: id, ...fields }),
      add: (subscription_line_item_id: string | null, fields: object = {}) =>
        modify({
          ...{ action: 'add', coupon_code: coupon.coupon_code },
          ...(subscription_line_item_id === null ? {} : { subscription_line_item_id }),
          ...fields,
        }),
      /** Changes the price of the line; its next version. */
      reprice: async (id: string, fields: object = {}): Promise<string> => {
        const terms = { amount: '62', ...fields };
        const answer = await api.put(`/v1/subscriptions/lineitems/${id}`, terms);
        expect([answer.status, answer.body.message]).toEqual([200, undefined]);
        return answer.body.id;
      },
      preview: async () => {
        const answer = await api.post('/v1/invoices/preview', { subscription_id: subscription.id });
        return [answer.body.line_items.length, answer.body.total_discount];
      },
    };
  }

  test('removed and added again before the price changes', async () => {
    const { lineId, remove, add, reprice, preview } = await discounted();
    api.clock.advance(2 * DAY);
    await remove();
    api.clock.advance(2 * DAY);
    await add(lineId);
    api.clock.advance(2 * DAY);
    await reprice(lineId);
    expect(await preview()).toEqual([2, '4']);
  });

  test('removed and added again from later days on, then the price changes today', async () => {
    const { lineId, remove, add, reprice, preview } = await discounted();
    await remove({ end_date: daysAhead(10) });
    await add(lineId, { start_date: daysAhead(12) });
    api.clock.advance(2 * DAY);
    await reprice(lineId);
    expect(await preview()).toEqual([2, '4']);
  });

  test('removed and added again, then the price changes from an earlier day on', async () => {
    const { lineId, remove, add, reprice, preview } = await discounted();
    const from = daysAhead(1);
    api.clock.advance(2 * DAY);
    await remove();
    api.clock.advance(2 * DAY);
    await add(lineId);
    await reprice(lineId, { effective_from: from });
    expect(await preview()).toEqual([2, '4']);
  });

  test('removed before the price changes and added again to the next version', async () => {
    const { lineId, remove, add, reprice, preview } = await discounted();
    api.clock.advance(2 * DAY);
    await remove();
    const next = await reprice(lineId);
    api.clock.advance(2 * DAY);
    await add(next);
    expect(await preview()).toEqual([2, '4']);
  });

  test('removed after the price changed and added again, and the price changes once more', async () => {
    const { lineId, remove, add, reprice, preview } = await discounted();
    api.clock.advance(2 * DAY);
    const second = await reprice(lineId);
    api.clock.advance(2 * DAY);
    await remove({}, await associationOf(second));
    api.clock.advance(2 * DAY);
    await add(second);
    await reprice(second, { amount: '93' });
    expect(await preview()).toEqual([3, '4']);
  });

  // 31.00 from 1 to 5 January: 4.00. 62.00 from the 5th to the end: 54.00. Each association discounts one of the rows.
  test('a coupon of the subscription that is removed before the price changes and added again after it', async () => {
    const { lineId, remove, add, reprice, preview } = await discounted(true);
    api.clock.advance(2 * DAY);
    await remove();
    api.clock.advance(2 * DAY);
    await reprice(lineId);
    api.clock.advance(2 * DAY);
    await add(null);
    expect(await preview()).toEqual([2, '4']);
  });

  async function associationOf(line: string): Promise<string> {
    const [row] = await api.pool<{ id: string }[]>`
      select id from coupon_associations where subscription_line_item_id = ${line}`;
    return row!.id;
  }
});
