import { Decimal } from '../../../domain/money.ts';
import { startBillingWorld, type BillingWorld } from '../../support/billing-world.ts';
import { createRandom, type Random } from '../../support/random.ts';

/**
 * An invoice with coupons, taxes and prepaid credits that people edit, credit, pay, refund, settle and void in any
 * order. After each step its figures follow from its rows by the rules of discounts, taxes and credits (billing 7.3,
 * 8.2, 9.1 to 9.3), computed here from the rows that the API shows. `SEED=n` repeats a run.
 */
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const LIVES = Number(process.env['LIVES'] ?? 6);
const STEPS = 7;

let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.stop());

const day = (text: string) => `2026-${text}T00:00:00.000Z`;
const ZERO = new Decimal(0);
const cents = (value: Decimal) => value.toDecimalPlaces(2, Decimal.ROUND_HALF_UP);
const total = (values: readonly Decimal[]) => values.reduce((sum, value) => sum.plus(value), ZERO);
const read = async (id: string) => (await world.api.get(`/v1/invoices/${id}`)).body;
const act = (id: string, action: string, body: object = {}) =>
  world.api.post(`/v1/invoices/${id}/${action}`, body);

interface Tax {
  readonly rate: number;
  readonly isInclusive: boolean;
}

const COUPONS = [
  { type: 'percentage', percentage_off: '33.333' },
  { type: 'percentage', percentage_off: '10' },
  { type: 'fixed', amount_off: '7', currency: 'usd' },
  { type: 'fixed', amount_off: '500', currency: 'usd' },
] as const;

/** A finalized or drafted invoice of March with a fee and two usage prices. */
async function billed(random: Random) {
  const { api, catalog } = world;
  api.clock.set(day('03-01'));
  const plan = await catalog.plan();
  const meters = [await catalog.meter(), await catalog.meter()];
  const price = () => `${random.below(30)}.${10 + random.below(90)}`;
  await catalog.fixed(plan, price(), { display_name: 'Fee', invoice_cadence: 'ARREAR' });
  for (const meter of meters)
    await catalog.usage(plan, meter, { display_name: meter.id, amount: price() });
  const taxes: Tax[] = [];
  const tax_rate_overrides = [];
  for (const isInclusive of [false, true]) {
    if (random.chance(0.5)) continue;
    const rate = random.pick([19, 8.25, 5]);
    const code = `t${isInclusive}${plan.id}`.toLowerCase();
    await api.post('/v1/taxes/rates', {
      ...{ name: code, code, tax_rate_type: 'percentage', percentage_value: String(rate) },
    });
    taxes.push({ rate, isInclusive });
    const tax_behavior = isInclusive ? 'inclusive' : 'exclusive';
    const named = { tax_rate_code: code, currency: 'usd', auto_apply: true };
    tax_rate_overrides.push({ ...named, tax_behavior });
  }
  const coupons: string[] = [];
  for (let left = random.below(3); left > 0; left -= 1) {
    const sent = { name: 'Off', cadence: 'forever', ...random.pick(COUPONS) };
    coupons.push((await api.post('/v1/coupons', sent)).body.id);
  }
  const customer = await catalog.customer();
  if (random.chance(0.6))
    await api.post('/v1/wallets', {
      customer_id: customer.id,
      currency: 'usd',
      initial_credits_to_load: String(1 + random.below(60)),
      ...(random.chance(0.5) ? { config: { allowed_price_types: ['ALL'] } } : {}),
    });
  const subscription = await catalog.subscribe(customer, plan, {
    start_date: day('03-01'),
    ...{ coupons, tax_rate_overrides },
  });
  await api.pool`update meter_versions set backfill_state = 'complete'`;
  const use = () =>
    world.usage.use(random.pick(meters), customer, day('03-05'), String(random.below(9)));
  for (let left = random.below(4); left > 0; left -= 1) await use();
  api.clock.set(day('04-01'));
  const { body } = await api.post('/v1/invoices', {
    ...{ invoice_type: 'SUBSCRIPTION', customer_id: customer.id, currency: 'usd' },
    ...{ subscription_id: subscription.id, period_start: day('03-01'), period_end: day('04-01') },
  });
  return { id: body.id as string, taxes, use };
}

/** What the rows of the invoice must add up to; the differences in words. */
function problems(invoice: any, taxes: readonly Tax[]): string[] {
  const found: string[] = [];
  const same = (what: string, product: unknown, own: Decimal) => {
    if (!new Decimal(String(product)).eq(own))
      found.push(`${what}: ${product}, not ${own.toFixed()}`);
  };
  const of = (row: any, field: string) => new Decimal(row[field]);
  const rows: any[] = invoice.line_items;
  const subtotal = total(rows.map((row) => of(row, 'amount')));
  same('subtotal', invoice.subtotal, subtotal);
  const off = rows.map((row) =>
    of(row, 'line_item_discount').plus(of(row, 'invoice_level_discount')),
  );
  same('total_discount', invoice.total_discount, total(off));
  rows.forEach((row, index) => {
    const [amount, discount] = [of(row, 'amount'), off[index]!];
    const credits = of(row, 'prepaid_credits_applied');
    if (discount.lt(0) || discount.gt(Decimal.max(amount, ZERO)))
      found.push(`discount ${discount} of ${amount}`);
    if (credits.lt(0) || credits.gt(Decimal.max(amount.minus(discount), ZERO)))
      found.push(`credits ${credits} of ${amount} less ${discount}`);
  });
  const prepaid = total(rows.map((row) => of(row, 'prepaid_credits_applied')));
  same('prepaid', invoice.total_prepaid_credits_applied, prepaid);
  const base = Decimal.max(subtotal.minus(total(off)), ZERO);
  const percent = (isInclusive: boolean) =>
    taxes.filter((tax) => tax.isInclusive === isInclusive).map(({ rate }) => new Decimal(rate));
  const whole = total(percent(true)).plus(100);
  const inclusive = total(percent(true).map((rate) => cents(base.times(rate).div(whole))));
  const exclusive = total(
    percent(false).map((rate) => cents(base.minus(inclusive).times(rate).div(100))),
  );
  same('tax', invoice.total_tax, inclusive.plus(exclusive));
  same('total', invoice.total, Decimal.max(base.minus(prepaid).plus(exclusive), ZERO));
  const due = Decimal.max(of(invoice, 'total').minus(of(invoice, 'adjustment_amount')), ZERO);
  same('due', invoice.amount_due, due);
  const paid = of(invoice, 'amount_paid');
  same('remaining', invoice.amount_remaining, Decimal.max(due.minus(paid), ZERO));
  same('overpaid', invoice.overpaid_amount ?? '0', Decimal.max(paid.minus(due), ZERO));
  return found;
}

interface Life {
  readonly random: Random;
  readonly taxes: readonly Tax[];
  /** Names the life and its step. */
  readonly name: string;
  readonly invoice: any;
  use(): Promise<void>;
}

interface Step {
  readonly what: string;
  readonly status: number;
  /** The invoice that is followed from now on. */
  readonly id: string;
}

const done = async (
  { invoice }: Life,
  what: string,
  answer: Promise<{ status: number; body: any }>,
): Promise<Step> => {
  const { status, body } = await answer;
  return { what, status, id: status < 300 && body.line_items ? body.id : invoice.id };
};
const amountOf = (random: Random) => `${random.below(60)}.${10 + random.below(90)}`;

const STEPS_OF_PEOPLE: readonly ((life: Life) => Promise<Step>)[] = [
  edit,
  edit,
  note,
  pay,
  async (life) => {
    await life.use();
    return await done(life, 'recalculate', act(life.invoice.id, 'recalculate'));
  },
  async (life) => {
    await life.use();
    return await done(life, 'settle', act(life.invoice.id, 'late-usage/settle', { as: 'invoice' }));
  },
  (life) =>
    done(
      life,
      'apply coupons again',
      world.api.put(`/v1/invoices/${life.invoice.id}`, { apply_discount: true }),
    ),
];

const finalize = (life: Life): Promise<Step> =>
  done(life, 'finalize', act(life.invoice.id, 'finalize'));

function edit(life: Life): Promise<Step> {
  const { random, invoice } = life;
  const row: any = random.pick(invoice.line_items);
  const amount = amountOf(random);
  const change =
    row === undefined || random.chance(0.3)
      ? { action: 'add', display_name: 'Added', amount, quantity: '1' }
      : random.chance(0.3)
        ? { action: 'remove', id: row.id }
        : { action: 'update', id: row.id, amount };
  const body = {
    line_items: [change],
    ...(random.chance(0.3) ? { apply_discount: true } : {}),
  };
  const what = `edit ${JSON.stringify(body)}`;
  return done(life, what, act(invoice.id, 'modify/execute', body));
}

async function note(life: Life): Promise<Step> {
  const { random, invoice, name } = life;
  const row: any = random.pick(invoice.line_items);
  if (row === undefined) return { what: 'nothing', status: 200, id: invoice.id };
  const line_items = [
    { invoice_line_item_id: row.id, amount: random.pick([amountOf(random), '0.01']) },
  ];
  const { status } = await world.api.post('/v1/creditnotes', {
    ...{ invoice_id: invoice.id, reason: 'BILLING_ERROR', line_items, memo: name },
    process_credit_note: true,
  });
  return { what: `note ${JSON.stringify(line_items)}`, status, id: invoice.id };
}

async function pay(life: Life): Promise<Step> {
  const { random, invoice, name } = life;
  const { status } = await world.api.post('/v1/payments', {
    ...{ destination_type: 'INVOICE', destination_id: invoice.id, currency: 'usd' },
    ...{ payment_method_type: 'OFFLINE', idempotency_key: name },
    amount: random.pick([invoice.amount_remaining, '1']),
  });
  return { what: 'pay', status, id: invoice.id };
}

const seeds = Array.from({ length: LIVES }, (_, index) => SEED + index);

test.each(seeds)('the figures follow from the rows after each step, SEED=%i', async (seed) => {
  const random = createRandom(seed);
  const { id, taxes, use } = await billed(random);
  let invoice = await read(id);
  const log: string[] = [];
  for (let step = 0; step <= STEPS; step += 1) {
    expect({ log, found: problems(invoice, taxes) }).toEqual({ log, found: [] });
    const life = { random, taxes, use, invoice, name: `life-${seed}-${step}` };
    const isIssued = invoice.invoice_status === 'DRAFT' && random.chance(0.5);
    const taken = await (isIssued ? finalize : random.pick(STEPS_OF_PEOPLE))(life);
    expect([taken.what, taken.status < 500]).toEqual([taken.what, true]);
    invoice = await read(taken.id);
    log.push(`${taken.what} ${taken.status}: ${invoice.invoice_status} ${invoice.total}`);
  }
  // A wrong total is found.
  expect(problems({ ...invoice, total: `${invoice.total}1` }, taxes)).not.toEqual([]);
});
