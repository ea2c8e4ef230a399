import { applyCoupons, couponDiscount } from '../../../domain/invoicing/coupons.ts';
import { decimal } from '../../../domain/money.ts';
import { amountOff, line, percentOff } from './invoice-input.ts';

const texts = (values: readonly { toFixed(): string }[]) => values.map((value) => value.toFixed());

describe('what one coupon takes off a base (billing 7.3 step 2)', () => {
  test.each`
    off                     | base        | currency | discount
    ${percentOff('25')}     | ${'80'}     | ${'usd'} | ${'20'}
    ${percentOff('15')}     | ${'33.33'}  | ${'usd'} | ${'5'}
    ${percentOff('33.333')} | ${'100'}    | ${'usd'} | ${'33.33'}
    ${percentOff('12.345')} | ${'100'}    | ${'usd'} | ${'12.35'}
    ${percentOff('0.4')}    | ${'1'}      | ${'usd'} | ${'0'}
    ${percentOff('0.5')}    | ${'1'}      | ${'usd'} | ${'0.01'}
    ${percentOff('100')}    | ${'12.34'}  | ${'usd'} | ${'12.34'}
    ${percentOff('50')}     | ${'1'}      | ${'jpy'} | ${'1'}
    ${percentOff('49')}     | ${'1'}      | ${'jpy'} | ${'0'}
    ${percentOff('10')}     | ${'10.555'} | ${'kwd'} | ${'1.056'}
    ${percentOff('100')}    | ${'0.006'}  | ${'usd'} | ${'0.006'}
    ${amountOff('10')}      | ${'80'}     | ${'usd'} | ${'10'}
    ${amountOff('10')}      | ${'10'}     | ${'usd'} | ${'10'}
    ${amountOff('10.01')}   | ${'10'}     | ${'usd'} | ${'10'}
    ${amountOff('0.005')}   | ${'10'}     | ${'usd'} | ${'0.01'}
    ${amountOff('0.004')}   | ${'10'}     | ${'usd'} | ${'0'}
    ${amountOff('150')}     | ${'1000'}   | ${'jpy'} | ${'150'}
    ${percentOff('10')}     | ${'0'}      | ${'usd'} | ${'0'}
  `('$off.type of $base $currency: $discount', ({ off, base, currency, discount }) => {
    expect(couponDiscount(off, decimal(base), currency).toFixed()).toBe(discount);
  });

  test('a kept discount stays the same after a change of the coupon', () => {
    const kept = percentOff('50', {
      kept: { amount: '3.21', level: 'invoice', invoice_line_item_ids: new Set() },
    });
    expect(couponDiscount(kept, decimal('100'), 'usd').toFixed()).toBe('3.21');
    expect(couponDiscount(kept, decimal('2'), 'usd').toFixed()).toBe('2');
  });
});

describe('coupons of the invoice', () => {
  test('each applies to the rest after its predecessors: two of 10% deduct 10.00 and 9.00', () => {
    const { applications } = applyCoupons(
      [line('a', '100')],
      [percentOff('10'), percentOff('10')],
      'usd',
    );
    expect(
      applications.map(({ original_price, discounted_amount, final_price }) => [
        original_price,
        discounted_amount,
        final_price,
      ]),
    ).toEqual([
      ['100', '10', '90'],
      ['90', '9', '81'],
    ]);
  });

  test.each`
    order                                       | discounts
    ${[amountOff('5'), percentOff('10')]}       | ${['5', '9.5']}
    ${[percentOff('10'), amountOff('5')]}       | ${['10', '5']}
    ${[amountOff('100'), percentOff('10')]}     | ${['100']}
    ${[amountOff('10'), amountOff('110')]}      | ${['10', '90']}
    ${[percentOff('0.001'), percentOff('0.1')]} | ${['0', '0.1']}
  `('without associations they keep the order given: $discounts', ({ order, discounts }) => {
    const { applications } = applyCoupons([line('a', '100')], order, 'usd');
    expect(applications.map((application) => application.discounted_amount)).toEqual(discounts);
  });

  test('each row gets a share by its remaining amount, the odd cent to the largest remainder', () => {
    const { invoiceLevelDiscounts, applications } = applyCoupons(
      [line('a', '10'), line('b', '10'), line('c', '10')],
      [amountOff('10')],
      'usd',
    );
    expect(texts(invoiceLevelDiscounts)).toEqual(['3.34', '3.33', '3.33']);
    expect(applications).toEqual([
      expect.objectContaining({
        invoice_line_item_id: null,
        discounted_amount: '10',
        shares: [
          { invoice_line_item_id: 'a', amount: '3.34' },
          { invoice_line_item_id: 'b', amount: '3.33' },
          { invoice_line_item_id: 'c', amount: '3.33' },
        ],
      }),
    ]);
  });

  test('the nets after line coupons are the weights (the worked example of 9.3)', () => {
    const { lineItemDiscounts, invoiceLevelDiscounts } = applyCoupons(
      [line('usage', '80'), line('flat', '20', { price_type: 'FIXED' })],
      [amountOff('10'), percentOff('25', { subscription_line_item_id: 'item-usage' })],
      'usd',
    );
    expect(texts(lineItemDiscounts)).toEqual(['20', '0']);
    expect(texts(invoiceLevelDiscounts)).toEqual(['7.5', '2.5']);
  });

  test('rows that are not positive take no part', () => {
    const { invoiceLevelDiscounts } = applyCoupons(
      [line('a', '100'), line('zero', '0'), line('refund', '-30'), line('b', '50')],
      [percentOff('10')],
      'usd',
    );
    expect(texts(invoiceLevelDiscounts)).toEqual(['10', '0', '0', '5']);
  });

  test('credit rows take no part, even positive ones', () => {
    const { invoiceLevelDiscounts } = applyCoupons(
      [line('a', '100'), line('b', '10', { kind: 'credit' })],
      [percentOff('10')],
      'usd',
    );
    expect(texts(invoiceLevelDiscounts)).toEqual(['10', '0']);
  });

  test.each(['base', 'overage', 'true_up'] as const)('%s rows are discounted', (kind) => {
    const { invoiceLevelDiscounts } = applyCoupons(
      [line('a', '100', { kind })],
      [percentOff('10')],
      'usd',
    );
    expect(texts(invoiceLevelDiscounts)).toEqual(['10']);
  });

  test('together they never take more than the subtotal; the rest is forfeited (7.3 step 5)', () => {
    const { applications, invoiceLevelDiscounts } = applyCoupons(
      [line('a', '100'), line('refund', '-70', { kind: 'credit' })],
      [percentOff('20'), percentOff('50'), percentOff('5')],
      'usd',
    );
    expect(applications.map((application) => application.discounted_amount)).toEqual(['20', '10']);
    expect(texts(invoiceLevelDiscounts)).toEqual(['30', '0']);
  });

  test.each(['-100', '-100.01'])('nothing is discounted when rows sum to %s over 100', (credit) => {
    const { applications } = applyCoupons(
      [line('a', '100'), line('refund', credit, { kind: 'credit' })],
      [percentOff('50'), percentOff('25', { subscription_line_item_id: 'item-a' })],
      'usd',
    );
    expect(applications).toEqual([]);
  });

  test('a coupon that finds nothing to discount is not applied, one that rounds to zero is', () => {
    expect(applyCoupons([line('a', '0')], [amountOff('5')], 'usd').applications).toEqual([]);
    expect(applyCoupons([], [amountOff('5')], 'usd').applications).toEqual([]);
    const { applications } = applyCoupons([line('a', '1')], [percentOff('0.1')], 'usd');
    expect(applications.map((application) => application.discounted_amount)).toEqual(['0']);
  });
});

describe('coupons of a line item', () => {
  const item = { subscription_line_item_id: 'item' };

  test('take of all rows of their item, and of no other', () => {
    const { lineItemDiscounts, applications } = applyCoupons(
      [line('jan', '30', item), line('feb', '60', item), line('other', '90')],
      [amountOff('10', item)],
      'usd',
    );
    expect(texts(lineItemDiscounts)).toEqual(['3.33', '6.67', '0']);
    expect(
      applications.map(
        ({ invoice_line_item_id, original_price, discounted_amount, final_price }) => [
          invoice_line_item_id,
          original_price,
          discounted_amount,
          final_price,
        ],
      ),
    ).toEqual([
      ['jan', '30', '3.33', '26.67'],
      ['feb', '60', '6.67', '53.33'],
    ]);
  });

  test('versions of an item that follow each other have one discount, shared by the rows of all', () => {
    const [first, second] = [
      { coupon_association_id: 'a1', subscription_line_item_id: 'old', end_date: '2026-01-11' },
      { coupon_association_id: 'a2', subscription_line_item_id: 'new', first_association_id: 'a1' },
    ];
    const rows = [
      line('a', '60', { subscription_line_item_id: 'old' }),
      line('b', '20', { subscription_line_item_id: 'new' }),
      line('c', '20', { subscription_line_item_id: 'other' }),
    ];
    const { applications, lineItemDiscounts } = applyCoupons(
      rows,
      [amountOff('10', first), amountOff('10', second)],
      'usd',
    );
    expect(texts(lineItemDiscounts)).toEqual(['7.5', '2.5', '0']);
    expect(
      applications.map(({ coupon_association_id, invoice_line_item_id, discounted_amount }) => [
        coupon_association_id,
        invoice_line_item_id,
        discounted_amount,
      ]),
    ).toEqual([
      ['a1', 'a', '7.5'],
      ['a2', 'b', '2.5'],
    ]);
  });

  test('one that was added again to a later version too; each row names the latest that discounts it', () => {
    const january = (from: string, to: string, subscription_line_item_id: string) => ({
      subscription_line_item_id,
      period_start: `2026-01-${from}T00:00:00.000Z`,
      period_end: `2026-01-${to}T00:00:00.000Z`,
    });
    const attached = (from: string, to: string, id: string, over: object) => ({
      coupon_association_id: id,
      start_date: `2026-01-${from}T00:00:00.000Z`,
      end_date: `2026-01-${to}T00:00:00.000Z`,
      ...over,
    });
    const first_association_id = 'a1';
    const { applications, uses } = applyCoupons(
      [line('a', '60', january('01', '11', 'old')), line('b', '40', january('11', '31', 'new'))],
      [
        attached('01', '05', 'a1', { subscription_line_item_id: 'old' }),
        attached('07', '11', 'a2', { subscription_line_item_id: 'old', first_association_id }),
        attached('11', '13', 'a3', { subscription_line_item_id: 'new', first_association_id }),
        attached('15', '31', 'a4', { subscription_line_item_id: 'new', first_association_id }),
      ].map((over) => amountOff('10', over)),
      'usd',
    );
    expect(
      applications.map(({ coupon_association_id, discounted_amount }) => [
        coupon_association_id,
        discounted_amount,
      ]),
    ).toEqual([
      ['a2', '6'],
      ['a4', '4'],
    ]);
    expect(uses.map(({ discount }) => discount.toFixed())).toEqual(['10']);
  });

  test('stacked ones chain, so that they never exceed the row', () => {
    const { lineItemDiscounts } = applyCoupons(
      [line('a', '100', item)],
      [percentOff('60', item), percentOff('60', item), amountOff('20', item)],
      'usd',
    );
    expect(texts(lineItemDiscounts)).toEqual(['100']);
  });

  test('come before coupons of the invoice, whenever they were attached', () => {
    const { applications } = applyCoupons(
      [line('a', '100', item)],
      [
        percentOff('10', { start_date: '2026-01-01T00:00:00.000Z', coupon_id: 'invoice' }),
        percentOff('50', { ...item, start_date: '2026-02-01T00:00:00.000Z', coupon_id: 'line' }),
      ],
      'usd',
    );
    expect(
      applications.map(({ coupon_id: id, discounted_amount }) => [id, discounted_amount]),
    ).toEqual([
      ['line', '50'],
      ['invoice', '5'],
    ]);
  });

  test('the two columns are separate', () => {
    const { lineItemDiscounts, invoiceLevelDiscounts } = applyCoupons(
      [line('a', '100', item)],
      [percentOff('10', item), percentOff('10')],
      'usd',
    );
    expect(texts(lineItemDiscounts)).toEqual(['10']);
    expect(texts(invoiceLevelDiscounts)).toEqual(['9']);
  });
});

describe('order of associations (billing 7.3 step 1)', () => {
  const attached = (coupon_association_id: string, start_date: string) => ({
    coupon_association_id,
    start_date,
  });
  const taken = (...coupons: Parameters<typeof percentOff>[1][]) =>
    applyCoupons(
      [line('a', '100')],
      coupons.map((coupon) => percentOff('10', coupon)),
      'usd',
    ).applications.map((application) => application.coupon_association_id);

  test('the older association first', () => {
    expect(
      taken(
        attached('a', '2026-03-01T00:00:00.000Z'),
        attached('b', '2026-01-01T00:00:00.000Z'),
        attached('c', '2026-02-01T00:00:00.000Z'),
      ),
    ).toEqual(['b', 'c', 'a']);
  });

  test('ids break ties', () => {
    const at = '2026-01-01T00:00:00.000Z';
    expect(taken(attached('b', at), attached('c', at), attached('a', at))).toEqual(['a', 'b', 'c']);
  });

  test('without a start date the order given stays', () => {
    expect(
      taken(
        { coupon_association_id: 'b' },
        { coupon_association_id: 'a' },
        { coupon_association_id: null },
      ),
    ).toEqual(['b', 'a', null]);
  });
});

describe('a row is discounted by its own dates (billing 7.2)', () => {
  const january = {
    period_start: '2026-01-01T00:00:00.000Z',
    period_end: '2026-02-01T00:00:00.000Z',
  };
  const april = {
    period_start: '2026-04-01T00:00:00.000Z',
    period_end: '2026-05-01T00:00:00.000Z',
  };

  test('three months from January cover the March arrears and not the April advance', () => {
    const { invoiceLevelDiscounts } = applyCoupons(
      [
        line('march-arrear', '100', {
          period_start: '2026-03-01T00:00:00.000Z',
          period_end: '2026-04-01T00:00:00.000Z',
        }),
        line('april-advance', '100', april),
      ],
      [
        percentOff('10', {
          start_date: '2026-01-01T00:00:00.000Z',
          end_date: '2026-04-01T00:00:00.000Z',
        }),
      ],
      'usd',
    );
    expect(texts(invoiceLevelDiscounts)).toEqual(['10', '0']);
  });

  test('line coupons look at dates as well', () => {
    const { applications } = applyCoupons(
      [line('a', '100', april)],
      [
        percentOff('10', {
          subscription_line_item_id: 'item-a',
          end_date: '2026-04-01T00:00:00.000Z',
        }),
      ],
      'usd',
    );
    expect(applications).toEqual([]);
  });

  test('a row without a window is discounted whenever the coupon is in force', () => {
    const { invoiceLevelDiscounts } = applyCoupons(
      [line('a', '100'), line('b', '100', january)],
      [percentOff('10', { start_date: '2026-03-01T00:00:00.000Z' })],
      'usd',
    );
    expect(texts(invoiceLevelDiscounts)).toEqual(['10', '0']);
  });
});

describe('a coupon that ends and is added again to the same target (billing 7.3)', () => {
  const day = (of: string) => `2026-01-${of}T00:00:00.000Z`;
  const row = (id: string, amount: string, from: string, to: string) =>
    line(id, amount, { period_start: day(from), period_end: day(to), subscription_id: 'subs' });
  const again = (id: string, from: string, to: string | null, over: object = {}) =>
    amountOff('10', {
      ...{ coupon_association_id: id, subscription_id: 'subs' },
      ...{ start_date: day(from), end_date: to === null ? null : day(to), ...over },
    });
  const rows = [
    row('a', '60', '01', '05'),
    row('b', '100', '05', '20'),
    row('c', '20', '20', '31'),
  ];

  test('has one discount on the rows of all its times, and not on those between', () => {
    const coupons = [again('a1', '01', '03'), again('a2', '25', null)];
    const { applications, invoiceLevelDiscounts } = applyCoupons(rows, coupons, 'usd');
    expect(texts(invoiceLevelDiscounts)).toEqual(['7.5', '0', '2.5']);
    expect(applications).toMatchObject([
      { coupon_association_id: 'a2', original_price: '80', discounted_amount: '10' },
    ]);
  });

  test('names the latest association that discounts something', () => {
    const coupons = [again('a1', '01', '03'), again('a2', '04', '05'), again('a3', '31', null)];
    const { applications } = applyCoupons(rows, coupons, 'usd');
    expect(applications).toMatchObject([{ coupon_association_id: 'a2', original_price: '60' }]);
  });

  test.each`
    what                              | second
    ${'another coupon'}               | ${{ coupon_id: 'other' }}
    ${'that of another subscription'} | ${{ subscription_id: null }}
    ${'that of a line'}               | ${{ subscription_line_item_id: 'item-c' }}
    ${'one that stands beside it'}    | ${{ start_date: day('02') }}
  `('$what has a discount of its own', ({ second }) => {
    const coupons = [again('a1', '01', '03'), again('a2', '25', null, second)];
    expect(applyCoupons(rows, coupons, 'usd').applications).toHaveLength(2);
  });
});

describe('merged subscriptions', () => {
  const rows = [
    line('parent', '100', { subscription_id: 'parent' }),
    line('child', '100', { subscription_id: 'child' }),
    line('by-hand', '100', { subscription_id: null }),
  ];

  test.each`
    subscription_id | discounts
    ${'child'}      | ${['0', '10', '0']}
    ${'parent'}     | ${['10', '0', '0']}
    ${null}         | ${['10', '10', '10']}
    ${'stranger'}   | ${['0', '0', '0']}
  `('a coupon of $subscription_id takes $discounts', ({ subscription_id, discounts }) => {
    const { invoiceLevelDiscounts } = applyCoupons(
      rows,
      [percentOff('10', { subscription_id })],
      'usd',
    );
    expect(texts(invoiceLevelDiscounts)).toEqual(discounts);
  });
});

describe('terms of the other kind are not looked at', () => {
  test('a percentage with an amount, a fixed one with a percentage', () => {
    const { applications } = applyCoupons(
      [line('a', '100')],
      [percentOff('10', { amount_off: '77' }), amountOff('5', { percentage_off: '77' })],
      'usd',
    );
    expect(applications.map((each) => [each.discounted_amount, each.discount_percentage])).toEqual([
      ['10', '10'],
      ['5', null],
    ]);
  });
});

describe('applications', () => {
  test('carry what the record needs', () => {
    const { applications } = applyCoupons(
      [line('a', '100')],
      [
        percentOff('10', { coupon_id: 'c1', coupon_association_id: 'a1', subscription_id: 'subs' }),
        amountOff('5', { coupon_id: 'c2' }),
      ],
      'usd',
    );
    expect(applications).toEqual([
      {
        coupon_id: 'c1',
        coupon_association_id: 'a1',
        subscription_id: 'subs',
        invoice_line_item_id: null,
        discount_type: 'percentage',
        discount_percentage: '10',
        original_price: '100',
        discounted_amount: '10',
        final_price: '90',
        shares: [{ invoice_line_item_id: 'a', amount: '10' }],
      },
      {
        coupon_id: 'c2',
        coupon_association_id: null,
        subscription_id: null,
        invoice_line_item_id: null,
        discount_type: 'fixed',
        discount_percentage: null,
        original_price: '90',
        discounted_amount: '5',
        final_price: '85',
        shares: [{ invoice_line_item_id: 'a', amount: '5' }],
      },
    ]);
  });

  test('the uses behind them name the rows by place', () => {
    const { uses } = applyCoupons(
      [line('zero', '0'), line('a', '40'), line('b', '60')],
      [percentOff('10')],
      'usd',
    );
    expect(
      uses.map(({ level, base, discount, shares }) => [
        level,
        base.toFixed(),
        discount.toFixed(),
        shares.map(({ row, before, amount }) => [row, before.toFixed(), amount.toFixed()]),
      ]),
    ).toEqual([
      [
        'invoice',
        '100',
        '10',
        [
          [1, '40', '4'],
          [2, '60', '6'],
        ],
      ],
    ]);
  });

  test('a row that is not in whole minor units is a bug of the rating', () => {
    expect(() => applyCoupons([line('a', '0.001')], [], 'usd')).toThrow('is not rounded');
    expect(applyCoupons([line('a', '0.001')], [], 'kwd').applications).toEqual([]);
  });
});
