import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf, type TestCatalog } from '../../support/catalog.ts';

/** Coupons at the creation of a subscription: the gate, the count, and what they take (billing 7). */
describe('coupons of a subscription', () => {
  let api: TestApi;
  let catalog: TestCatalog;
  beforeAll(async () => {
    api = await startTestApi();
    catalog = catalogOf(api);
  });
  afterAll(() => api.close());

  const coupon = async (fields: object = {}): Promise<{ id: string }> => {
    const terms = { name: 'C', type: 'percentage', percentage_off: '10', cadence: 'forever' };
    const type =
      'amount_off' in fields ? { type: 'fixed', percentage_off: null, currency: 'usd' } : {};
    const answer = await api.post('/v1/coupons', { ...terms, ...type, ...fields });
    expect(answer.status).toBe(201);
    return answer.body;
  };
  const total = async ({ id }: { id: string }) =>
    (await api.get(`/v1/coupons/${id}`)).body.total_redemptions;
  /** Of a plan with one monthly fee, paid in advance. */
  const plan = async (...amounts: string[]) => {
    const made = await catalog.plan();
    const prices: { id: string }[] = [];
    for (const amount of amounts) prices.push(await catalog.fixed(made, amount));
    return { id: made.id, prices };
  };
  const attempt = async (plan_id: string, fields: object) =>
    api.post('/v1/subscriptions', {
      billing_period: 'MONTHLY',
      billing_period_count: 1,
      currency: 'usd',
      customer_id: (await catalog.customer()).id,
      plan_id,
      ...fields,
    });
  const subscribe = async (plan_id: string, fields: object) => {
    const answer = await attempt(plan_id, fields);
    expect([answer.status, answer.body.message]).toEqual([201, undefined]);
    return answer.body;
  };
  const opening = async (subscription: { id: string }) => {
    const found = await api.post('/v1/invoices/search', { subscription_id: subscription.id });
    return (await api.get(`/v1/invoices/${found.body.items.at(-1).id}`)).body;
  };
  const preview = async (subscription: { id: string }) =>
    (await api.post('/v1/invoices/preview', { subscription_id: subscription.id })).body;

  test('the association exists, is counted once, and the invoice and the preview have the discount', async () => {
    const ten = await coupon({ max_redemptions: 2 });
    const { id } = await plan('100');
    const subscription = await subscribe(id, { coupons: [ten.id] });
    expect(subscription.coupon_associations).toMatchObject([
      {
        id: expect.stringMatching(/^coupon_assoc_/),
        coupon_id: ten.id,
        coupon: { id: ten.id, total_redemptions: 1 },
        subscription_line_item_id: null,
        start_date: subscription.start_date,
        end_date: null,
      },
    ]);
    expect(await total(ten)).toBe(1);
    const invoice = await opening(subscription);
    expect(invoice).toMatchObject({
      invoice_status: 'FINALIZED',
      subtotal: '100',
      total_discount: '10',
      total: '90',
      amount_due: '90',
      line_items: [{ amount: '100', line_item_discount: '0', invoice_level_discount: '10' }],
      coupon_applications: [
        {
          id: expect.stringMatching(/^coupon_app_/),
          invoice_id: invoice.id,
          invoice_line_item_id: null,
          coupon_association_id: subscription.coupon_associations[0].id,
          coupon_snapshot: {
            id: ten.id,
            percentage_off: '10',
            applied_to: 'invoice',
            price_id: null,
          },
          discount_type: 'percentage',
          discount_percentage: '10',
          original_price: '100',
          discounted_amount: '10',
          final_price: '90',
          shares: [{ invoice_line_item_id: invoice.line_items[0].id, amount: '10' }],
        },
      ],
    });
    expect(await preview(subscription)).toMatchObject({ total: '90', total_discount: '10' });
    expect(await total(ten)).toBe(1);
    const listed = await api.get(`/v1/coupons/associations?subscription_ids=${subscription.id}`);
    expect(listed.body.items).toMatchObject([{ coupon: { id: ten.id } }]);
  });

  test('subscription coupons are taken in the order given, each on what the one before left', async () => {
    const [five, ten] = [await coupon({ amount_off: '5' }), await coupon()];
    const { id } = await plan('100');
    const taken = async (coupons: string[]) =>
      (await opening(await subscribe(id, { coupons }))).coupon_applications.map(
        (application: { discounted_amount: string }) => application.discounted_amount,
      );
    expect(await taken([five.id, ten.id])).toEqual(['5', '9.5']);
    expect(await taken([ten.id, five.id])).toEqual(['10', '5']);
  });

  test('a coupon of a line item comes first and stays on its rows', async () => {
    const [five, seven] = [
      await coupon({ amount_off: '10' }),
      await coupon({ percentage_off: '7' }),
    ];
    const { id, prices } = await plan('60', '40');
    const subscription = await subscribe(id, {
      coupons: [seven.id],
      line_item_coupons: { [prices[1]!.id]: [five.id] },
    });
    const invoice = await opening(subscription);
    const row = (price: { id: string }) =>
      invoice.line_items.find((line: { price_id: string }) => line.price_id === price.id);
    expect(row(prices[0]!)).toMatchObject({
      line_item_discount: '0',
      invoice_level_discount: '4.2',
    });
    expect(row(prices[1]!)).toMatchObject({
      line_item_discount: '10',
      invoice_level_discount: '2.1',
    });
    expect(invoice.total).toBe('83.7');
    expect(invoice.coupon_applications).toMatchObject([
      {
        discount_type: 'fixed',
        discount_percentage: '0',
        invoice_line_item_id: row(prices[1]!).id,
        coupon_snapshot: { applied_to: 'line_item', price_id: prices[1]!.id },
      },
      { discount_type: 'percentage', invoice_line_item_id: null },
    ]);
    expect(await preview(subscription)).toMatchObject({ total: '83.7' });
  });

  test('a price that is overridden is the price of its line item all the same', async () => {
    const half = await coupon({ percentage_off: '50' });
    const { id, prices } = await plan('60');
    const price_id = prices[0]!.id;
    const subscription = await subscribe(id, {
      override_line_items: [{ price_id, amount: '30' }],
      line_item_coupons: { [price_id]: [half.id] },
    });
    expect((await opening(subscription)).total).toBe('15');
  });

  test('nothing left to pay: the invoice is paid at once', async () => {
    const free = await coupon({ amount_off: '500' });
    const { id } = await plan('100');
    expect(await opening(await subscribe(id, { coupons: [free.id] }))).toMatchObject({
      invoice_status: 'FINALIZED',
      payment_status: 'SUCCEEDED',
      total_discount: '100',
      total: '0',
    });
  });

  test('by code, for a time: rows outside the window are not discounted', async () => {
    const code = `CODE-${Math.floor(api.clock.now())}`;
    await coupon({ coupon_code: code });
    const { id } = await plan('100');
    const until = '2026-12-01T00:00:00Z';
    const subscription = await subscribe(id, {
      subscription_coupons: [{ coupon_code: code.toLowerCase(), end_date: until }],
    });
    expect(subscription.coupon_associations).toMatchObject([
      { end_date: '2026-12-01T00:00:00.000Z' },
    ]);
    expect((await opening(subscription)).total).toBe('90');
    expect((await preview(subscription)).total).toBe('100');
  });

  test('repeated: as many billing periods as it says, the first one included', async () => {
    const once = await coupon({ cadence: 'repeated', duration_in_periods: 1 });
    const twice = await coupon({ cadence: 'repeated', duration_in_periods: 2 });
    const { id } = await plan('100');
    const first = await subscribe(id, { coupons: [once.id] });
    expect(first.coupon_associations[0].end_date).toBe(first.current_period_end);
    expect([(await opening(first)).total, (await preview(first)).total]).toEqual(['90', '100']);
    const second = await subscribe(id, { coupons: [twice.id] });
    expect([(await opening(second)).total, (await preview(second)).total]).toEqual(['90', '90']);
  });

  test('once: the first invoice, and again after it was voided', async () => {
    const once = await coupon({ cadence: 'once' });
    const { id } = await plan('100');
    const subscription = await subscribe(id, { coupons: [once.id] });
    const invoice = await opening(subscription);
    expect([invoice.total, (await preview(subscription)).total]).toEqual(['90', '100']);
    expect((await api.post(`/v1/invoices/${invoice.id}/void`, {})).status).toBe(200);
    expect((await preview(subscription)).total).toBe('90');
  });

  test('what is attached keeps working: archived, over, and used up', async () => {
    const ten = await coupon({ max_redemptions: 1, redeem_before: '2026-11-22T00:00:00Z' });
    const { id } = await plan('100');
    const subscription = await subscribe(id, { coupons: [ten.id] });
    await api.delete(`/v1/coupons/${ten.id}`);
    expect((await preview(subscription)).total).toBe('90');
    expect((await attempt(id, { coupons: [ten.id] })).status).toBe(400);
  });

  test('the explanation of an issued row names the terms of the coupon', async () => {
    const free = await coupon({ amount_off: '500' });
    const { id } = await plan('100');
    const invoice = await opening(await subscribe(id, { coupons: [free.id] }));
    const line = `/v1/invoices/${invoice.id}/lines/${invoice.line_items[0].id}/explanation`;
    const { body } = await api.get(line);
    expect(body.explanation.settlement).toMatchObject([
      { step: 'discount', coupon_id: free.id, amount_off: '500', discount: '100', after: '0' },
    ]);
  });

  describe('refused, and then nothing is made and nothing is counted', () => {
    test.each([
      ['limit reached', { max_redemptions: 1 }, 2],
      ['over', { redeem_before: '2026-01-01T00:00:00Z' }, 1],
      ['not begun', { redeem_after: '2090-01-01T00:00:00Z' }, 1],
      ['another currency', { amount_off: '5', currency: 'eur' }, 1],
    ])('400: %s', async (_why, fields, tries) => {
      const refused = await coupon(fields);
      const good = await coupon();
      const { id } = await plan('100');
      for (let index = 1; index < tries; index += 1) await subscribe(id, { coupons: [refused.id] });
      const answer = await attempt(id, { coupons: [good.id, refused.id] });
      expect([answer.status, answer.body.details[0].path]).toEqual([400, 'coupons[1]']);
      expect([await total(good), await total(refused)]).toEqual([0, tries - 1]);
      const found = await api.post('/v1/subscriptions/search', { plan_id: id });
      expect(found.body.pagination.total).toBe(tries - 1);
    });

    test('404: an unknown coupon and an unknown code', async () => {
      const { id } = await plan('100');
      expect((await attempt(id, { coupons: ['coupon_missing'] })).status).toBe(404);
      const byCode = { subscription_coupons: [{ coupon_code: 'missing' }] };
      expect((await attempt(id, byCode)).status).toBe(404);
      const stranger = await api.newCaller();
      const theirs = await stranger.post('/v1/coupons', {
        name: 'X',
        type: 'percentage',
        percentage_off: '10',
        cadence: 'forever',
      });
      expect((await attempt(id, { coupons: [theirs.body.id] })).status).toBe(404);
    });

    test('400: twice on one target, a price without a line item, an end before the start', async () => {
      const ten = await coupon({ coupon_code: 'ends' });
      const { id, prices } = await plan('100');
      const path = async (fields: object) => {
        const answer = await attempt(id, fields);
        return [answer.status, answer.body.details[0].path];
      };
      expect(await path({ coupons: [ten.id, ten.id] })).toEqual([400, 'coupons[1]']);
      expect(await path({ line_item_coupons: { price_x: [ten.id] } })).toEqual([
        400,
        'line_item_coupons.price_x[0]',
      ]);
      const end_date = '2026-01-01T00:00:00Z';
      const ended = { subscription_coupons: [{ coupon_code: 'ends', end_date }] };
      expect(await path(ended)).toEqual([400, 'subscription_coupons[0].end_date']);
      expect(await path({ coupons: 'x' })).toEqual([400, 'coupons']);
      await api.delete(`/v1/coupons/${ten.id}`);
      expect(await path({ line_item_coupons: { [prices[0]!.id]: [ten.id] } })).toEqual([
        400,
        `line_item_coupons.${prices[0]!.id}[0]`,
      ]);
    });
  });

  test('fifty at once on a coupon for seven: seven are made, and seven are counted', async () => {
    const few = await coupon({ max_redemptions: 7 });
    const { id } = await plan('100');
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => attempt(id, { coupons: [few.id] })),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(7).fill(201), ...Array(43).fill(400)]);
    expect(await total(few)).toBe(7);
    const [counted] = await api.pool`
      select count(*)::int as count from coupon_associations where coupon_id = ${few.id}`;
    expect(counted).toEqual({ count: 7 });
  });

  test.each([
    ['10%', {}, '10'],
    ['5.00', { percentage_off: null, amount_off: '5' }, '5'],
  ])(
    'a coupon of %s that is removed and added again discounts a row once',
    async (_, terms, off) => {
      const made = await catalog.plan();
      await catalog.fixed(made, '100', { invoice_cadence: 'ARREAR' });
      const code = `again-${off}`;
      const again = await coupon({ ...terms, coupon_code: code });
      const subscription = await subscribe(made.id, { coupons: [again.id] });
      const modify = async (coupon_params: object) => {
        const path = `/v1/subscriptions/${subscription.id}/modify/execute`;
        expect((await api.post(path, { type: 'coupon', coupon_params })).status).toBe(200);
      };
      const [{ id: coupon_association_id }] = subscription.coupon_associations;
      api.clock.advance(86_400_000);
      await modify({ action: 'remove', coupon_association_id });
      expect((await preview(subscription)).total_discount).toBe(off);
      api.clock.advance(86_400_000);
      await modify({ action: 'add', coupon_code: code });
      expect((await preview(subscription)).total_discount).toBe(off);
    },
  );
});
