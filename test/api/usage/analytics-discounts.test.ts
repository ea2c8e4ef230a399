import { Decimal, sum } from '../../../domain/money.ts';
import { startPipeline, type PipelineWorld } from '../../support/pipeline-world.ts';
import { createRandom } from '../../support/random.ts';

const RANGE = { start_time: '2026-06-01T00:00:00Z', end_time: '2026-07-01T00:00:00Z' };
const PERIOD = { period_start: '2026-06-01T00:00:00Z', period_end: '2026-07-01T00:00:00Z' };
const SEED = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);

/** What coupons take off usage analytics, and that it is what they take off the invoice (money 19.10). */
describe('discounts in usage analytics', () => {
  let world: PipelineWorld;
  let plan: { id: string };
  const prices: { id: string }[] = [];
  const random = createRandom(SEED);
  let count = 0;

  beforeAll(async () => {
    world = await startPipeline();
    plan = await world.catalog.plan();
    for (const amount of ['0.333', '1.5']) {
      const meter = await world.catalog.meter(
        { type: 'SUM', field: 'n' },
        { event_name: `used_${prices.length}` },
      );
      const start_date = '2026-01-01T00:00:00Z';
      prices.push(await world.catalog.usage(plan, meter, { amount, start_date }));
    }
  });
  afterAll(() => world.close());

  const coupon = async (fields: object): Promise<{ id: string }> => {
    const terms = { name: 'C', cadence: 'forever', type: 'percentage' };
    const { status, body } = await world.api.post('/v1/coupons', { ...terms, ...fields });
    expect([status, body.message]).toEqual([201, undefined]);
    return body;
  };
  /** A customer with events of both meters on three days, and the answers about it. */
  const used = async (fields: object, values: readonly (readonly [number, number])[]) => {
    count += 1;
    const external_id = `disc_${count}`;
    const customer = await world.catalog.customer({ external_id });
    const subscription = await world.catalog.subscribe(customer, plan, {
      start_date: PERIOD.period_start,
      ...fields,
    });
    await world.send(
      values.flatMap((pair, day) =>
        pair.map((n, meter) => ({
          event_id: `${external_id}-${day}-${meter}`,
          event_name: `used_${meter}`,
          external_customer_id: external_id,
          timestamp: `2026-06-${10 + day}T10:00:00Z`,
          source: day === 0 ? 'web' : 'api',
          properties: { n },
        })),
      ),
    );
    await world.settled();
    const ask = async (more: object = {}) => {
      const asked = { external_customer_id: external_id, ...RANGE, window_size: 'DAY', ...more };
      const { status, body } = await world.api.post('/v1/events/analytics', asked);
      expect(status).toBe(200);
      return body;
    };
    const preview = await world.api.post('/v1/invoices/preview', {
      subscription_id: subscription.id,
      ...PERIOD,
    });
    expect(preview.status).toBe(200);
    return { ask, preview: preview.body };
  };
  const brief = (body: any) => [body.subtotal, body.total_discount, body.total_cost];

  test.each<[string, (id: (fields: object) => Promise<string>) => Promise<object>, string[][]]>([
    [
      'none',
      async () => ({}),
      [
        ['0', '150'],
        ['0', '30'],
      ],
    ],
    [
      'a percentage of the subscription',
      async (id) => ({ coupons: [await id({ percentage_off: '10' })] }),
      [
        ['15', '135'],
        ['3', '27'],
      ],
    ],
    [
      'a percentage of one line, then one of the subscription on what is left',
      async (id) => ({
        line_item_coupons: { [prices[1]!.id]: [await id({ percentage_off: '50' })] },
        coupons: [await id({ percentage_off: '10' })],
      }),
      [
        ['82.5', '67.5'],
        ['3', '27'],
      ],
    ],
    [
      'a repeated percentage',
      async (id) => ({
        coupons: [await id({ percentage_off: '10', cadence: 'repeated', duration_in_periods: 1 })],
      }),
      [
        ['15', '135'],
        ['3', '27'],
      ],
    ],
    [
      'a percentage that counts once',
      async (id) => ({ coupons: [await id({ percentage_off: '10', cadence: 'once' })] }),
      [
        ['0', '150'],
        ['0', '30'],
      ],
    ],
    [
      'a fixed amount beside a percentage',
      async (id) => ({
        coupons: [
          await id({ type: 'fixed', amount_off: '7', currency: 'usd' }),
          await id({ percentage_off: '10' }),
        ],
      }),
      [
        ['15', '135'],
        ['3', '27'],
      ],
    ],
  ])('%s', async (_, fields, [first, second]) => {
    const { ask } = await used(await fields(async (terms) => (await coupon(terms)).id), [
      [10, 60],
      [0, 40],
      [50, 0],
    ]);
    const body = await ask();
    // 60 units at 0.333 are 19.98; the other line is listed by its price of 1.5.
    const items = body.items.map((item: any) => [
      item.subtotal,
      item.total_discount,
      item.total_cost,
    ]);
    expect(items).toHaveLength(2);
    const sold = items.find(([subtotal]: string[]) => subtotal === '150');
    expect(sold.slice(1)).toEqual(first);
    const share = new Decimal(second![0]!).div(30);
    const other = items.find(([subtotal]: string[]) => subtotal === '19.98');
    expect(other[1]).toBe(share.times('19.98').toDecimalPlaces(2).toFixed());
    const total = ['subtotal', 'total_discount', 'total_cost'].map((key) =>
      sum(body.items.map((item: any) => new Decimal(item[key]))).toFixed(),
    );
    expect(brief(body)).toEqual(total);
  });

  test('a repeated coupon that has ended takes nothing from later rows', async () => {
    const ended = await coupon({
      percentage_off: '10',
      cadence: 'repeated',
      duration_in_periods: 1,
    });
    const start_date = '2026-05-01T00:00:00Z';
    const { ask } = await used({ coupons: [ended.id], start_date }, [[0, 100]]);
    const body = await ask({ feature_ids: null });
    expect(brief(body)).toEqual(['150', '0', '150']);
  });

  test('revenue beside costs is what discounts leave', async () => {
    const ten = await coupon({ percentage_off: '10' });
    const { ask } = await used({ coupons: [ten.id] }, [[30, 100]]);
    const { total_cost, total_discount } = await ask();
    const asked = { external_customer_id: `disc_${count}`, ...RANGE };
    const { body } = await world.api.post('/v1/costs/analytics', asked);
    expect(Number(total_discount)).toBeGreaterThan(0);
    expect([body.total_revenue, body.margin]).toEqual([total_cost, total_cost]);
  });

  test('groups and filters have their share', async () => {
    const ten = await coupon({ percentage_off: '10' });
    const { ask } = await used({ coupons: [ten.id] }, [
      [0, 60],
      [0, 40],
    ]);
    const grouped = await ask({ group_by: ['source'] });
    expect(
      grouped.items
        .filter((item: any) => item.subtotal !== '0')
        .map((item: any) => [item.source, item.subtotal, item.total_discount, item.total_cost]),
    ).toEqual([
      ['api', '60', '6', '54'],
      ['web', '90', '9', '81'],
    ]);
    expect(brief(await ask({ sources: ['web'] }))).toEqual(['90', '9', '81']);
  });

  test('points add up to their item, and items to the rows of the invoice, over random coupons', async () => {
    process.stdout.write(`discounts in analytics: SEED=${SEED}\n`);
    const percent = () => ({ percentage_off: String((random.below(10_000) + 1) / 100) });
    for (let round = 0; round < 6; round += 1) {
      const about = `round ${round} SEED=${SEED}`;
      const ofPrice = random.below(2);
      const fields = {
        line_item_coupons: { [prices[ofPrice]!.id]: [(await coupon(percent())).id] },
        coupons: random.chance(0.7) ? [(await coupon(percent())).id] : [],
      };
      const values = Array.from({ length: 1 + random.below(3) }, () =>
        [random.below(500) / 100, random.below(500) / 100] as const,
      ); // prettier-ignore
      const { ask, preview } = await used(fields, values);
      const body = await ask();
      for (const item of body.items) {
        const row = preview.line_items.find((line: any) => line.price_id === item.price_id);
        const taken = new Decimal(row.line_item_discount).plus(row.invoice_level_discount);
        const capped = Decimal.min(taken, item.subtotal).toFixed();
        expect([about, item.total_discount]).toEqual([about, capped]);
        for (const [ofItem, ofPoint] of [
          ['subtotal', 'subtotal'],
          ['total_discount', 'discount'],
          ['total_cost', 'cost'],
        ] as const) {
          const points = sum(item.points.map((point: any) => new Decimal(point[ofPoint])));
          expect([about, ofItem, points.toFixed()]).toEqual([about, ofItem, item[ofItem]]);
        }
      }
    }
  });
});
