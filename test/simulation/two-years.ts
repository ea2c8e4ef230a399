import { startBillingWorld, type BillingWorld } from '../support/billing-world.ts';
import { completeBackfills } from '../support/usage-oracle.ts';
import {
  ADDON,
  DAY,
  METERS,
  TARIFFS,
  tell,
  type Change,
  type Life,
  type MeterName,
  type Tariff,
  type Told,
  type Use,
} from './naive-subscription.ts';
import { diceOf, randomLife, randomUses } from './random-life.ts';

export interface TwoYears {
  readonly subscriptions: number;
  readonly seed: number;
  readonly months: number;
  /** Called after each instant at which something changes, with their number. */
  readonly progress?: (done: number, of: number) => void;
}

/** One subscription whose bills differ from the naive account. */
export interface Mismatch {
  readonly seed: number;
  readonly what: string;
  readonly expected: unknown;
  readonly billed: unknown;
}

interface Lived {
  readonly seed: number;
  readonly life: Life;
  readonly told: Told;
  readonly customer: { id: string; external_id: string };
  readonly id: string;
  /** Associations of the addons, the newest first. */
  readonly addons: string[];
  plan: number;
}

const START = Date.parse('2024-01-01T00:00:00Z');
/** Requests at a time: one waits for the database while another one computes. */
const AT_ONCE = 4;
const iso = (at: number) => new Date(at).toISOString();

/**
 * Subscriptions of five lines and addons on a test clock, with random changes: seats, plan, addons, pauses, coupons,
 * cancellations and late usage. Compares every invoice with a second, naive account, and the sum of their rows with
 * the usage that was sent.
 */
export async function liveTwoYears(given: TwoYears): Promise<Mismatch[]> {
  const world = await startBillingWorld();
  try {
    return await new Years(world, given).run();
  } finally {
    await world.stop();
  }
}

class Years {
  readonly #world: BillingWorld;
  readonly #given: TwoYears;
  readonly #meters = {} as Record<MeterName, { id: string }>;
  #plans: readonly { id: string }[] = [];
  #addon = { id: '' };
  #clock = { id: '' };

  constructor(world: BillingWorld, given: TwoYears) {
    this.#world = world;
    this.#given = given;
  }

  async run(): Promise<Mismatch[]> {
    await this.#offer();
    const { seed, subscriptions } = this.#given;
    const seeds = Array.from({ length: subscriptions }, (_, index) => seed * 100_000 + index);
    const lives = await inTurns(seeds, (own) => this.#begin(own));
    const steps = new Map<number, (() => Promise<unknown>)[]>();
    for (const lived of lives)
      for (const [at, step] of this.#stepsOf(lived)) {
        const standing = steps.get(at) ?? [];
        standing.push(step);
        steps.set(at, standing);
      }
    const last = Math.max(...lives.map(({ told }) => told.bounds.at(-1)!));
    const instants = [...steps.keys()].sort((left, right) => left - right);
    for (const [index, at] of instants.entries()) {
      await this.#advance(at);
      await inTurns(steps.get(at)!, (step) => step());
      this.#given.progress?.(index + 1, instants.length);
    }
    await this.#advance(last + DAY);
    return (await inTurns(lives, (lived) => this.#compare(lived))).flat();
  }

  async #offer(): Promise<void> {
    const { catalog, api } = this.#world;
    for (const meter of METERS) this.#meters[meter] = await catalog.meter();
    this.#plans = [await this.#planOf(TARIFFS[0]), await this.#planOf(TARIFFS[1])];
    this.#addon = await this.#world.api.postOk('/v1/addons', {
      name: 'Addon',
      lookup_key: 'addon',
    });
    await this.#world.api.postOk('/v1/prices', {
      ...{ entity_type: 'ADDON', entity_id: this.#addon.id, type: 'FIXED', amount: ADDON },
      ...{ billing_model: 'FLAT_FEE', billing_period: 'MONTHLY', invoice_cadence: 'ADVANCE' },
      currency: 'usd',
    });
    this.#clock = await this.#world.api.postOk('/v1/test-clocks', {
      name: 'Years',
      now: iso(START),
    });
    await completeBackfills(api.pool);
  }

  async #planOf({ seat, support, call, data, jobs }: Tariff): Promise<{ id: string }> {
    const { catalog } = this.#world;
    const plan = await catalog.plan();
    await catalog.fixed(plan, seat, { display_name: 'Seat' });
    await catalog.fixed(plan, support, { invoice_cadence: 'ARREAR', display_name: 'Support' });
    await catalog.usage(plan, this.#meters.calls, { amount: call });
    await catalog.usage(plan, this.#meters.data, {
      ...{ billing_model: 'TIERED', tier_mode: 'SLAB' },
      tiers: data.map(({ upTo, each }) => ({ up_to: upTo, unit_amount: each })),
    });
    await catalog.usage(plan, this.#meters.jobs, {
      ...{ billing_model: 'PACKAGE', amount: jobs.each },
      transform_quantity: { divide_by: jobs.size, round: 'up' },
    });
    return plan;
  }

  async #begin(seed: number): Promise<Lived> {
    const roll = diceOf(seed);
    const life = randomLife(roll, START, this.#given.months);
    const uses = randomUses(roll, life);
    const customer = await this.#world.catalog.customer({ test_clock_id: this.#clock.id });
    const { off } = life;
    const coupon =
      off === null
        ? null
        : await this.#world.api.postOk('/v1/coupons', {
            ...{ name: 'Off', type: 'percentage', cadence: 'repeated' },
            ...{ percentage_off: String(off.percent), duration_in_periods: off.periods },
          });
    const subscription = await this.#world.catalog.subscribe(customer, this.#plans[0]!, {
      ...{ start_date: iso(START), billing_cycle: 'anniversary' },
      proration_behavior: 'create_prorations',
      override_line_items: [{ price_id: await this.#seatPrice(0), quantity: String(life.seats) }],
      coupons: coupon === null ? [] : [coupon.id],
    });
    await this.#send(customer, uses);
    const told = tell(life, uses);
    return { seed, life, told, customer, id: subscription.id, addons: [], plan: 0 };
  }

  readonly #seatPrices: string[] = [];
  async #seatPrice(plan: number): Promise<string> {
    if (this.#seatPrices.length === 0)
      for (const { id } of this.#plans) {
        const found = await this.#world.api.postOk('/v1/prices/search', {
          plan_ids: [id],
          limit: 100,
        });
        const seat = found.items.find((price: any) => price.display_name === 'Seat');
        this.#seatPrices.push(seat.id);
      }
    return this.#seatPrices[plan]!;
  }

  async #send(customer: Lived['customer'], uses: readonly Use[]): Promise<void> {
    for (const meter of METERS) {
      const events = uses
        .filter((use) => use.meter === meter)
        .map(({ at, value }) => ({ at: iso(at), value: String(value) }));
      if (events.length > 0) await this.#world.usage.useAll(this.#meters[meter], customer, events);
    }
  }

  /** What happens to a subscription, and when. */
  #stepsOf(lived: Lived): [number, () => Promise<unknown>][] {
    const { life, told, customer } = lived;
    const path = `/subscriptions/${lived.id}`;
    return told.bounds.slice(0, -1).flatMap((start, month): [number, () => Promise<unknown>][] => {
      const change = life.changes[month]!;
      if (change.kind === 'none') return [];
      const at = start + change.day * DAY;
      const step = async () => {
        await this.#change(lived, path, change);
        // Usage of a period that is billed and final is reported, and bills nothing.
        if (month > 0)
          await this.#send(customer, [{ meter: 'calls', at: start - DAY * 3, value: 7 }]);
      };
      if (change.kind !== 'pause') return [[at, step]];
      const resumed = at + change.days * DAY;
      const { then } = change;
      return [
        [at, step],
        [resumed, () => this.#world.api.postOk(`/v1${path}/resume`, {})],
        ...(then === null
          ? []
          : [
              [
                resumed + then.days * DAY,
                () => this.#change(lived, path, { ...then.change, day: change.day }),
              ] as [number, () => Promise<unknown>],
            ]),
      ];
    });
  }

  async #change(lived: Lived, path: string, change: Change): Promise<void> {
    switch (change.kind) {
      case 'none':
        return;
      case 'seats': {
        const { line_items } = (await this.#world.api.get(`/v1${path}`)).body;
        const line = line_items.find(
          (item: any) => item.display_name === 'Seat' && item.end_date === null,
        );
        await this.#world.api.postOk(`/v1${path}/modify/execute`, {
          type: 'quantity_change',
          quantity_change_params: {
            line_items: [{ id: line.id, quantity: String(change.seats) }],
          },
        });
        return;
      }
      case 'plan':
        lived.plan = 1 - lived.plan;
        await this.#world.api.postOk(`/v1${path}/change/v2/execute`, {
          target_plan_id: this.#plans[lived.plan]!.id,
        });
        return;
      case 'attach': {
        const body = { subscription_id: lived.id, addon_id: this.#addon.id };
        lived.addons.unshift((await this.#world.api.postOk('/v1/subscriptions/addon', body)).id);
        return;
      }
      case 'detach': {
        const body = { addon_association_id: lived.addons.pop()! };
        const answer = await this.#world.api.delete('/v1/subscriptions/addon', body);
        if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
        return;
      }
      case 'pause':
        await this.#world.api.postOk(`/v1${path}/pause`, {});
        return;
      case 'cancel':
        await this.#world.api.postOk(`/v1${path}/cancel`, { cancellation_type: 'end_of_period' });
        return;
      case 'stop':
        await this.#world.api.postOk(`/v1${path}/cancel`, { cancellation_type: 'immediate' });
        return;
      default:
        change satisfies never;
    }
  }

  async #compare(lived: Lived): Promise<Mismatch[]> {
    const { seed, told, id, customer } = lived;
    const found = await this.#world.api.postOk('/v1/invoices/search', {
      subscription_id: id,
      limit: 1000,
    });
    const invoices = (found.items as any[]).filter(
      ({ invoice_status, subtotal }) => invoice_status !== 'VOIDED' && subtotal !== '0',
    );
    const wallets = await this.#world.api.postOk('/v1/wallets/transactions/search', {
      ...{ customer_id: customer.id, type: 'credit', limit: 1000 },
    });
    const money = (text: string) => Number(text).toFixed(2);
    const sum = (values: readonly string[]) =>
      values.reduce((all, value) => all + Math.round(Number(value) * 100), 0) / 100;
    const rows = invoices.flatMap((invoice) => invoice.line_items as any[]);
    const identities = rows.map(
      (row) =>
        `${row.subscription_line_item_id} ${row.period_start} ${row.kind ?? ''} ${row.amount.startsWith('-')}`,
    );
    const unitsOf = (meter: MeterName) =>
      rows
        .filter(({ meter_id }) => meter_id === this.#meters[meter].id)
        .reduce((all, { quantity }) => all + Number(quantity), 0);
    const facts: [string, unknown, unknown][] = [
      [
        'invoices: subtotal and discount',
        told.invoices.map((one) => `${money(one.subtotal)} -${money(one.discount)}`).sort(),
        invoices.map((one) => `${money(one.subtotal)} -${money(one.total_discount)}`).sort(),
      ],
      [
        'credited',
        money(told.credited),
        sum(wallets.items.map(({ amount }: any) => amount)).toFixed(2),
      ],
      ['units', told.units, Object.fromEntries(METERS.map((meter) => [meter, unitsOf(meter)]))],
      [
        'rows that are there twice',
        [],
        identities.filter((row, at) => identities.indexOf(row) !== at),
      ],
      ['drafts', 0, invoices.filter(({ invoice_status }) => invoice_status !== 'FINALIZED').length],
    ];
    return facts.flatMap(([what, expected, billed]) =>
      JSON.stringify(expected) === JSON.stringify(billed) ? [] : [{ seed, what, expected, billed }],
    );
  }

  async #advance(at: number): Promise<void> {
    const moved = await this.#world.advance(this.#clock, iso(at));
    if (moved.status !== 'ready') throw new Error(JSON.stringify(moved));
  }
}

async function inTurns<Value, Result>(
  values: readonly Value[],
  work: (value: Value) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const worker = async () => {
    for (;;) {
      const index = next;
      next += 1;
      if (index >= values.length) return;
      results[index] = await work(values[index]!);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}
