import { Decimal } from '../../../domain/money.ts';
import type { BillingWorld } from '../../support/billing-world.ts';
import { createRandom } from '../../support/random.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';
import {
  Account,
  FACTOR,
  type Bill,
  type Contract,
  type Fee,
  type Model,
  type Row,
  type Service,
  type Use,
} from './naive-contract.ts';
import { randomContract, randomUses } from './random-contract.ts';

const iso = (at: number) => new Date(at).toISOString();
/** Drafts of usage are final so long after their period. */
const GRACE_MS = 7_200_000;

/** What differs, in words; empty: every invoice is as the naive account says, and as its preview said. */
export async function liveContract(world: BillingWorld, seed: number): Promise<object[]> {
  const random = createRandom(seed);
  const contract = randomContract(random);
  const uses = randomUses(random, contract);
  const account = new Account(contract, uses);
  const differences: object[] = [];
  const note = (what: string, expected: Facts | null, found: Facts | null) => {
    const [missing, extra] = [beside(expected, found), beside(found, expected)];
    if (missing.length > 0 || extra.length > 0) differences.push({ seed, what, missing, extra });
  };

  world.api.clock.set(iso(contract.start));
  const { customer, subscription } = await begin(world, contract, uses, `c${seed}`);
  const bills = account.bills();
  const opened = await invoicesOf(world, subscription);
  const hasOpening = bills[0]!.rows.length > 0;
  note(
    'opening',
    hasOpening ? factsOf(bills[0]!, false) : null,
    opened[0] === undefined ? null : shown(opened[0], contract, false),
  );
  for (const bill of bills.slice(1)) {
    const { start, end } = bill.period;
    world.api.clock.set(iso(end - 1));
    const previewed = await ok(world, '/invoices/preview', { subscription_id: subscription.id });
    world.api.clock.set(iso(end));
    await world.close();
    const drafted = await cycleOf(world, subscription, start);
    note(`preview of ${iso(start)}`, drafted === null ? null : exact(drafted), exact(previewed));
    world.api.clock.set(iso(end + GRACE_MS));
    await world.finalize();
    const issued = await cycleOf(world, subscription, start);
    note(
      `invoice of ${iso(start)}`,
      factsOf(bill, true),
      issued === null ? null : shown(issued, contract, true),
    );
    if (issued?.invoice_status === 'DRAFT')
      note(`status of ${iso(start)}`, ['FINALIZED'], ['DRAFT']);
  }
  const running = account.periods[contract.periods];
  if (running !== undefined && contract.phase === null) {
    // Usage of the period before is final; a change of the running one is billed at once.
    world.api.clock.set(iso(Math.floor((running.start + running.end) / 2) + GRACE_MS / 2));
    for (const [what, path, body] of await changesOf(world, contract, subscription)) {
      const previewed = await ok(world, `${path}/preview`, body);
      const executed = await ok(world, `${path}/execute`, body);
      note(what, settled(executed), settled(previewed));
    }
    world.api.clock.set(iso(running.end - 1));
    const previewed = await ok(world, '/invoices/preview', { subscription_id: subscription.id });
    world.api.clock.set(iso(running.end));
    await world.close();
    const drafted = await cycleOf(world, subscription, running.start);
    note('preview after changes', drafted === null ? null : exact(drafted), exact(previewed));
  }
  await world.api.pool`update subscriptions set due_at = null where customer_id = ${customer.id}`;
  return differences.length === 0
    ? []
    : [{ seed, contract: JSON.stringify(contract) }, ...differences];
}

async function begin(world: BillingWorld, contract: Contract, uses: readonly Use[], name: string) {
  const { catalog, api, usage } = world;
  const plan = await catalog.plan();
  const fees = await each(contract.fees, (fee) => sellFee(world, plan, contract, fee));
  const meters = new Map<string, { id: string }>();
  const services = await each(contract.services, async (service) => {
    const isMax = service.bucket?.sum === false;
    const meter = await catalog.meter(
      { type: isMax ? 'MAX' : 'SUM', field: 'v' },
      { name: service.name },
    );
    meters.set(service.name, meter);
    if (service.free !== null) await grant(world, plan, meter, service.free);
    return await sellService(world, plan, meter, contract, service);
  });
  await completeBackfills(api.pool);
  const customer = await catalog.customer({ external_id: name });
  if (contract.credits > 0) await payAhead(world, customer, contract);
  const taxes = await each(contract.taxes, async ({ percent, inclusive }, index) => {
    const code = `${name}-${index}`;
    await ok(world, '/taxes/rates', {
      ...{ name: code, code, tax_rate_type: 'percentage', percentage_value: percent },
    });
    return {
      ...{ tax_rate_code: code, currency: moneyOf(contract), auto_apply: true },
      tax_behavior: inclusive ? 'inclusive' : 'exclusive',
    };
  });
  const { off, commitment } = contract;
  const coupon =
    off === null
      ? null
      : await ok(world, '/coupons', {
          ...{ name: 'Off', type: 'percentage', percentage_off: String(off.percent) },
          ...(off.periods === null
            ? { cadence: 'forever' }
            : { cadence: 'repeated', duration_in_periods: off.periods }),
        });
  for (const { name: service } of contract.services) {
    const own = uses.filter((use) => use.service === service);
    const events = own.map(({ at, value }) => ({ at: iso(at), value }));
    if (events.length > 0) await usage.useAll(meters.get(service)!, customer, events);
  }
  const seats = contract.fees.map(({ quantity }, index) => ({
    price_id: fees[index]!.id,
    quantity: String(quantity),
  }));
  const subscription = await ok(world, '/subscriptions', {
    ...{ customer_id: customer.id, plan_id: plan.id, currency: contract.currency },
    ...{ billing_period: contract.unit, billing_period_count: contract.count },
    ...{ billing_cycle: contract.cycle, customer_timezone: contract.zone },
    ...(contract.anchor === null ? {} : { billing_anchor: iso(contract.anchor) }),
    ...{ start_date: iso(contract.start), end_date: contract.end && iso(contract.end) },
    proration_behavior: contract.prorated ? 'create_prorations' : 'none',
    line_item_grouping: contract.grouped ? 'per_billing_period' : 'per_charge_period',
    include_price_ids: [...fees, ...services].map(({ id }) => id),
    override_line_items: seats,
    line_item_commitments: Object.fromEntries(
      contract.services.flatMap((service, index) =>
        service.commitment === null ? [] : [[services[index]!.id, committed(service.commitment)]],
      ),
    ),
    coupons: coupon === null ? [] : [coupon.id],
    tax_rate_overrides: taxes,
    ...(commitment === null
      ? {}
      : {
          commitment_amount: commitment.value,
          commitment_duration: commitment.duration,
          overage_factor: commitment.factor,
          enable_true_up: commitment.trueUp,
        }),
    ...(contract.phase === null ? {} : { phases: phasesOf(contract, fees, services) }),
  });
  return { customer, subscription };
}

function phasesOf(
  { start, end, phase, fees: soldFees, services: soldServices }: Contract,
  fees: readonly { id: string }[],
  services: readonly { id: string }[],
): object[] {
  const overrides = [
    ...soldFees.map(({ later, quantity }, index) => ({
      ...{ price_id: fees[index]!.id, quantity: String(quantity) },
      ...(later === null ? {} : termsOf(later)),
    })),
    ...soldServices.flatMap(({ later }, index) =>
      later === null ? [] : [{ price_id: services[index]!.id, ...termsOf(later) }],
    ),
  ];
  return [
    { start_date: iso(start), end_date: iso(phase!) },
    {
      start_date: iso(phase!),
      ...(end === null ? {} : { end_date: iso(end) }),
      override_line_items: overrides,
    },
  ];
}

const committed = ({
  type,
  value,
  factor,
  trueUp,
  windowed,
  duration,
}: NonNullable<Service['commitment']>) => ({
  commitment_type: type,
  [`commitment_${type}`]: value,
  ...{ overage_factor: factor, enable_true_up: trueUp, is_window_commitment: windowed },
  ...(duration === null ? {} : { commitment_duration: duration }),
});

function termsOf(model: Model): object {
  switch (model.kind) {
    case 'flat':
      return { billing_model: 'FLAT_FEE', amount: model.each };
    case 'package':
      return {
        ...{ billing_model: 'PACKAGE', amount: model.each },
        transform_quantity: { divide_by: model.size, round: 'up' },
      };
    default:
      return {
        ...{ billing_model: 'TIERED', tier_mode: model.kind.toUpperCase() },
        tiers: model.tiers.map(({ upTo, each: unit_amount, flat }) => ({
          ...{ up_to: upTo, unit_amount, flat_amount: flat },
        })),
      };
  }
}

const sellFee = (world: BillingWorld, plan: { id: string }, { currency }: Contract, fee: Fee) =>
  ok(world, '/prices', {
    ...{
      entity_type: 'PLAN',
      entity_id: plan.id,
      type: 'FIXED',
      price_unit_type: 'FIAT',
      currency,
    },
    ...{ billing_period: fee.unit, billing_period_count: fee.count, display_name: fee.name },
    invoice_cadence: fee.advance ? 'ADVANCE' : 'ARREAR',
    ...termsOf(fee.model),
  });

const sellService = (
  world: BillingWorld,
  plan: { id: string },
  meter: { id: string },
  { currency }: Contract,
  service: Service,
) =>
  ok(world, '/prices', {
    ...{
      entity_type: 'PLAN',
      entity_id: plan.id,
      type: 'USAGE',
      price_unit_type: 'FIAT',
      currency,
    },
    ...{ billing_period: service.unit, billing_period_count: service.count },
    ...{ display_name: service.name, meter_id: meter.id, invoice_cadence: 'ARREAR' },
    ...(service.bucket === null ? {} : { bucket_size: service.bucket.size }),
    ...termsOf(service.model),
  });

async function grant(
  world: BillingWorld,
  plan: { id: string },
  meter: { id: string },
  { limit, reset }: NonNullable<Service['free']>,
): Promise<void> {
  const feature = await ok(world, '/features', {
    ...{ name: 'Free', lookup_key: meter.id, type: 'metered', meter_id: meter.id },
  });
  await ok(world, '/entitlements', {
    ...{ plan_id: plan.id, feature_id: feature.id, feature_type: 'metered', usage_limit: limit },
    ...(reset === null ? {} : { usage_reset_period: reset }),
  });
}

async function payAhead(
  world: BillingWorld,
  customer: { id: string },
  contract: Contract,
): Promise<void> {
  const wallet = await ok(world, '/wallets', {
    ...{ customer_id: customer.id, currency: moneyOf(contract), wallet_type: 'PRE_PAID' },
    config: { allowed_price_types: ['ALL'] },
  });
  await ok(world, `/wallets/${wallet.id}/top-up`, {
    credits_to_add: String(contract.credits),
    ...{ transaction_reason: 'FREE_CREDIT_GRANT', idempotency_key: `${wallet.id}-credits` },
  });
}

/** The currency of the invoices. */
const moneyOf = ({ currency }: Contract): string => (currency === 'crx' ? 'usd' : currency);

/** The custom currency of some contracts. */
export const offerCustomCurrency = (world: BillingWorld) =>
  world.api.put('/v1/settings/custom_currency_config', {
    value: {
      currencies: [
        { code: 'crx', name: 'Credits', symbol: '¤', conversion_factors: { usd: FACTOR } },
      ],
    },
  });

async function ok(world: BillingWorld, path: string, body: object): Promise<any> {
  const answer = await world.api.post(`/v1${path}`, body);
  if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

async function each<Value, Result>(
  values: readonly Value[],
  work: (value: Value, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const [index, value] of values.entries()) results.push(await work(value, index));
  return results;
}

async function invoicesOf(world: BillingWorld, { id }: { id: string }): Promise<any[]> {
  const found = await ok(world, '/invoices/search', { subscription_id: id, limit: 1000 });
  return found.items;
}

async function cycleOf(world: BillingWorld, of: { id: string }, start: number): Promise<any> {
  const invoices = await invoicesOf(world, of);
  const found = invoices.find(
    ({ period_start, billing_reason }) =>
      period_start === iso(start) && billing_reason === 'SUBSCRIPTION_CYCLE',
  );
  return found ?? null;
}

/** A change of the quantity of each advance fee, then one of the plan: what, where and how. */
async function changesOf(
  world: BillingWorld,
  { currency, unit, count, fees }: Contract,
  { id }: { id: string },
): Promise<[what: string, path: string, body: object][]> {
  const plan = await world.catalog.plan();
  await ok(world, '/prices', {
    ...{
      entity_type: 'PLAN',
      entity_id: plan.id,
      type: 'FIXED',
      price_unit_type: 'FIAT',
      currency,
    },
    ...{ billing_period: unit, billing_period_count: count, invoice_cadence: 'ADVANCE' },
    ...{ display_name: 'other fee', billing_model: 'FLAT_FEE', amount: '33.335' },
  });
  const { body } = await world.api.get(`/v1/subscriptions/${id}`);
  const advances = (body.line_items as any[]).filter(({ display_name }) =>
    fees.some(({ name, advance }) => advance && name === display_name),
  );
  const line_items = advances.map((line) => ({
    id: line.id,
    quantity: String(Number(line.quantity) + (line.quantity === '2' ? -1 : 3)),
  }));
  const modify = { type: 'quantity_change', quantity_change_params: { line_items } };
  const path = `/subscriptions/${id}`;
  return [
    ...(line_items.length === 0
      ? []
      : [['change of quantities', `${path}/modify`, modify] as [string, string, object]]),
    ['change of plan', `${path}/change/v2`, { target_plan_id: plan.id }],
  ];
}

/** How a change is settled: the rows of its invoice with the credits that pay it, or what is credited. */
const settled = ({ changed_resources: { invoices } }: any): Facts =>
  (invoices as any[]).flatMap(({ action, amount, invoice }) =>
    invoice === null ? [`${action} ${amount}`] : [action, ...exact(invoice), ...paid(invoice)],
  );

/** What an invoice says, one text for each fact. */
type Facts = readonly string[];

/** The facts of the first that are not in the second. */
function beside(first: Facts | null, second: Facts | null): Facts {
  const left = [...(second ?? ['no invoice'])];
  return (first ?? ['no invoice']).filter((fact) => {
    const at = left.indexOf(fact);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** Everything that a preview says before it is billed. */
const exact = (invoice: any): Facts => [
  ...invoice.line_items.map((row: any) =>
    JSON.stringify([
      ...[row.display_name, row.kind, row.quantity, row.amount, row.period_start, row.period_end],
      ...[row.line_item_discount, row.invoice_level_discount, row.adjusted_entitlement_quantity],
      Object.entries(row.commitment_info ?? {}).sort(),
    ]),
  ),
  ...invoice.taxes.map((tax: any) =>
    JSON.stringify([tax.percentage_value, tax.tax_behavior, tax.tax_amount]),
  ),
  `subtotal ${invoice.subtotal}`,
  `discount ${invoice.total_discount}`,
  `tax ${invoice.total_tax}`,
];

/** What is left to pay. The draft of a period uses no credits, so only invoices issued at once are compared. */
const paid = (invoice: any): Facts => [
  `credits ${invoice.total_prepaid_credits_applied}`,
  `total ${invoice.total}`,
];

function shown(invoice: any, { commitment }: Contract, isFinal: boolean): Facts {
  const rows = (invoice.line_items as any[]).map((row): Row => ({
    name: row.display_name.replace(/ (\(Overage\)|True Up)$/, ''),
    kind: row.kind ?? 'base',
    start: Date.parse(row.period_start),
    end: Date.parse(row.period_end),
    quantity: (row.kind ?? 'base') === 'base' ? row.quantity : null,
    amount: row.amount,
  }));
  // How a commitment of the subscription is shared by its usage rows is a rule of its own.
  const usage = rows.filter(({ name }) => !name.startsWith('fee'));
  const isPooled = commitment !== null && usage.length > 0;
  const pooled: Row = {
    ...{ name: 'usage', kind: 'base', quantity: null },
    ...{ start: Date.parse(invoice.period_start), end: Date.parse(invoice.period_end) },
    amount: usage.reduce((sum, { amount }) => sum.plus(amount), new Decimal(0)).toFixed(),
  };
  return factsOf(
    {
      rows: isPooled ? [...rows.filter((row) => !usage.includes(row)), pooled] : rows,
      subtotal: invoice.subtotal,
      discount: invoice.total_discount,
      tax: invoice.total_tax,
      credits: invoice.total_prepaid_credits_applied,
      total: invoice.total,
    },
    isFinal,
  );
}

function factsOf(bill: Omit<Bill, 'period'>, isFinal: boolean): Facts {
  const plain = (text: string) => new Decimal(text).toFixed();
  return [
    ...bill.rows.map(({ name, kind, start, end, quantity, amount }) =>
      [
        ...[name, kind, iso(start), iso(end)],
        quantity === null ? '' : `${plain(quantity)} units`,
        plain(amount),
      ].join(' '),
    ),
    `subtotal ${plain(bill.subtotal)}`,
    `discount ${plain(bill.discount)}`,
    `tax ${plain(bill.tax)}`,
    ...(isFinal ? [`credits ${plain(bill.credits)}`, `total ${plain(bill.total)}`] : []),
  ];
}
