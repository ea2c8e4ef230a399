import type { ApiClient } from '../../main/demo/api-client.ts';
import { INCLUDED, includedIn } from '../../main/seed/benefits.ts';
import { seedCustomers, type PlanName } from '../../main/seed/customers.ts';
import { monthsUntil, roundedUntil } from '../../main/seed/months.ts';
import { seedTenant } from '../../main/seed/seed-tenant.ts';
import { SeedUsage, type SeedEvent } from '../../main/seed/usage.ts';
import { decimal, decimalText, sum } from '../../domain/money.ts';
import { startPipeline, type PipelineWorld } from '../support/pipeline-world.ts';

const EVENTS = 2_000;
const UNTIL = Date.parse('2026-11-20T12:34:56.000Z');

describe('the generated usage', () => {
  const months = monthsUntil(roundedUntil(UNTIL));
  const generate = (seed: number, count: number): SeedEvent[] => {
    const usage = new SeedUsage(seed, count, seedCustomers(seed, months), months);
    return months.flatMap((month) => [...usage.batchesOf(month, 1_000)].flat());
  };

  test('has exactly the count, unique ids and times in the months, and follows from the seed', () => {
    const events = generate(1, 5_000);
    expect(events).toHaveLength(5_000);
    expect(new Set(events.map(({ event_id }) => event_id)).size).toBe(5_000);
    const times = events.map(({ timestamp }) => timestamp).sort();
    expect(times[0]! >= '2026-08-01T00:00:00.000Z').toBe(true);
    expect(times.at(-1)! < '2026-11-20T12:00:00.000Z').toBe(true);
    expect(generate(1, 5_000)).toEqual(events);
    expect(generate(2, 5_000)).not.toEqual(events);
  });

  test('weekdays exceed weekends, usage grows, five of fifty customers cause a large part', () => {
    const events = generate(1, 20_000);
    const days = (isWeekend: boolean) =>
      events.filter(
        ({ timestamp }) => [0, 6].includes(new Date(timestamp).getUTCDay()) === isWeekend,
      ).length;
    expect(days(false) / 5).toBeGreaterThan((days(true) / 2) * 1.5);
    const inMonth = (month: string) =>
      events.filter(({ timestamp }) => timestamp.startsWith(month)).length;
    expect(inMonth('2026-10')).toBeGreaterThan(inMonth('2026-08') * 1.3);
    const heavy = new Set(
      seedCustomers(1, months)
        .slice(0, 5)
        .map(({ external_id }) => external_id),
    );
    const share =
      events.filter((event) => heavy.has(event.external_customer_id)).length / events.length;
    expect(share).toBeGreaterThan(0.35);
  });

  test('the data ends where the month before is invoiced', () => {
    const rounded = (text: string) => new Date(roundedUntil(Date.parse(text))).toISOString();
    expect(rounded('2026-03-02T02:00:00Z')).toBe('2026-03-02T02:00:00.000Z');
    expect(rounded('2026-03-02T01:59:59Z')).toBe('2026-02-28T23:00:00.000Z');
  });
});

describe('the seeded environment', () => {
  let world: PipelineWorld;
  const sent: SeedEvent[] = [];
  beforeAll(async () => {
    world = await startPipeline();
  });
  afterAll(() => world.close());

  /** The client of the seed over the two servers of the world; a test clock advances at once. */
  const client: ApiClient = {
    get: (path) => answered(world.api.get(`/v1${path}`)),
    put: (path, body) => answered(world.api.put(`/v1${path}`, body)),
    async post(path, body) {
      if (path === '/events/bulk') {
        const { events } = body as { events: SeedEvent[] };
        sent.push(...events);
        await world.send(events);
        return undefined as never;
      }
      const answer = await answered(world.api.post(`/v1${path}`, body));
      if (path.endsWith('/advance')) await world.job('advance-test-clocks');
      return answer as never;
    },
  };
  async function answered(call: Promise<{ status: number; body: any }>): Promise<any> {
    const { status, body } = await call;
    if (status >= 300) throw new Error(`${status}: ${JSON.stringify(body)}`);
    return body;
  }
  const run = () =>
    seedTenant(client, { seed: 1, events: EVENTS, until: UNTIL, onProgress: () => {} });

  test('usage on invoices is the sum of the events; money adds up; a second run is refused', async () => {
    const summary = await run();
    expect(summary).toMatchObject({ customers: 50, events: EVENTS });
    expect(sent).toHaveLength(EVENTS);

    const invoices = await all('/invoices/search');
    const meters = new Map<string, string>(
      (await all('/meters/search')).map(({ id, name }: any) => [id, name]),
    );
    const planNames = new Map<string, PlanName>(
      (await all('/plans/search')).map(({ id, name }: any) => [id, name]),
    );
    const subscriptions = new Map<string, any>(
      (await all('/subscriptions/search', { subscription_status: ['active', 'cancelled'] })).map(
        (each: any) => [each.id, each],
      ),
    );
    const billed = { count: 0, images: 0 };
    for (const invoice of invoices.filter((each: any) => each.invoice_status === 'FINALIZED'))
      for (const line of invoice.line_items.filter((each: any) => each.meter_id !== null)) {
        const inPeriod = sent.filter(
          (event) =>
            event.external_customer_id === invoice.customer.external_id &&
            event.timestamp >= line.period_start &&
            event.timestamp < line.period_end,
        );
        const what = meters.get(line.meter_id)!;
        const used = Number(counted(inPeriod, what));
        const free = Number(line.adjusted_entitlement_quantity ?? 0);
        expect([invoice.id, what, Number(line.quantity) + free]).toEqual([invoice.id, what, used]);
        const { plan_id, start_date } = subscriptions.get(invoice.subscription_id);
        // The month in which a customer joins has a share of the limit.
        if (line.period_start > start_date)
          expect([invoice.id, what, free]).toEqual([
            invoice.id,
            what,
            Math.min(used, included(what, planNames.get(plan_id)!)),
          ]);
        billed.count += 1;
        if (what === 'Images') billed.images += used;
      }
    const running = sent.filter(({ timestamp }) => timestamp >= '2026-11-01');
    const images = (events: SeedEvent[]) => Number(counted(events, 'Images'));
    expect(billed.images + images(running)).toBe(images(sent));
    expect(billed.count).toBeGreaterThan(50 * 3);

    const final = invoices.filter((each: any) => each.invoice_status === 'FINALIZED');
    const of = (key: string) => sum(final.map((each: any) => decimal(each[key])));
    expect(decimalText(of('total'))).toBe(
      decimalText(
        of('amount_paid')
          .minus(of('overpaid_amount'))
          .plus(of('adjustment_amount'))
          .plus(of('amount_remaining')),
      ),
    );
    expect([summary.invoices, summary.invoiced]).toEqual([final.length, decimalText(of('total'))]);
    const payments = (await all('/payments/search')).filter(
      ({ payment_status: status, payment_method_type: type }: any) =>
        ['SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED', 'REFUNDED'].includes(status) &&
        type !== 'CREDITS',
    );
    expect(summary.collected).toBe(
      decimalText(sum(payments.map(({ amount }: any) => decimal(amount)))),
    );
    expect(summary.payments).toBe(payments.length);
    expect(decimal(summary.open).gt(0)).toBe(true);
    expect((await all('/wallets/search')).length).toBe(summary.wallets);
    expect((await all('/creditnotes/search')).length).toBe(1);
    const refunds = (await all('/refunds/search')).map((each: any) => [
      each.amount,
      each.refund_status,
    ]);
    // The credit note pays back too.
    expect(refunds.sort()).toEqual([
      ['40', 'SUCCEEDED'],
      ['99.5', 'SUCCEEDED'],
    ]);
    const granted = (await all('/entitlements/search')).map((each: any) => each.feature_type);
    expect(granted.sort()).toEqual([
      ...Array<string>(3).fill('boolean'),
      ...Array<string>(6).fill('metered'),
      ...Array<string>(3).fill('static'),
    ]);
    const [coupon] = await all('/coupons/search');
    expect(coupon).toMatchObject({ coupon_code: 'launch20', total_redemptions: 3 });
    expect(final.filter((each: any) => each.total_discount !== '0').length).toBeGreaterThan(3);
    await world.job('evaluate-alerts');
    const [watched] = await all('/alerts/setting/search');
    expect(watched).toMatchObject({ entity_type: 'subscription', enabled: true });
    const raised = await all('/alerts/search', { entity_id: watched.entity_id });
    expect(
      raised.map(({ alert_type: type, alert_status: status }) => [type, status]),
    ).toContainEqual(['subscription_spend', 'in_alarm']);

    await expect(run()).rejects.toThrow('already has plans');
    expect((await all('/invoices/search')).length).toBe(invoices.length);
  });

  async function all(path: string, filter: object = {}): Promise<any[]> {
    const found: any[] = [];
    for (;;) {
      const page = await client.post<any>(path, {
        limit: 200,
        offset: found.length,
        expand: 'customer',
        ...filter,
      });
      found.push(...page.items);
      if (page.items.length < 200) return found;
    }
  }
});

/** What a plan includes of the quantity in each month. */
function included(what: string, plan: PlanName): number {
  const units = { 'Input tokens': INCLUDED.input_tokens, Images: INCLUDED.images }[what];
  return units === undefined ? 0 : includedIn(units[plan], EVENTS);
}

/** The quantity of the events, counted from what was sent. */
function counted(events: readonly SeedEvent[], what: string): string {
  if (what === 'Images')
    return String(events.filter(({ event_name }) => event_name === 'image.generated').length);
  const key = what === 'Input tokens' ? 'input_tokens' : 'output_tokens';
  return String(events.reduce((total, { properties }) => total + Number(properties[key] ?? 0), 0));
}
