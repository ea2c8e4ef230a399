import { Decimal } from '../../../domain/money.ts';
import type { BillingWorld } from '../../support/billing-world.ts';
import { createRandom } from '../../support/random.ts';
import type { Bill, Contract, Kind } from './contract.ts';
import {
  addonSteps,
  arriving,
  billSteps,
  cancelSteps,
  familySteps,
  grantSteps,
  lateSteps,
  limitSteps,
  moveSteps,
  pauseSteps,
  quantitySteps,
  type Note,
  type Step,
} from './contract-steps.ts';
import { balanceOf, billed, invoicesOf } from './found-invoices.ts';
import { beside, factsOf, shown, type Facts } from './invoice-facts.ts';
import { changeAtLast } from './last-changes.ts';
import { iso } from './naive-calendar.ts';
import { lineCouponSteps, lineSteps } from './line-steps.ts';
import { Account } from './naive-contract.ts';
import { randomContract, randomUses } from './random-contract.ts';
import { compareAnalytics } from './shown-usage.ts';
import { moneyOf, signContract, type Signed } from './sign-contract.ts';
import { trialSteps } from './trial-steps.ts';

/** What differs, in words; empty: every invoice is as the naive account says, and as its preview said. */
export async function liveContract(
  world: BillingWorld,
  seed: number,
  kind: Kind,
): Promise<object[]> {
  const random = createRandom(seed);
  const contract = randomContract(random, kind);
  const drafts = new Account(contract, []).drafts();
  const uses = randomUses(random, contract).map((use) => arriving(drafts, use));
  const account = new Account(contract, uses);
  const differences: object[] = [];
  const note: Note = (what, expected, found) => {
    const [missing, extra] = [beside(expected, found), beside(found, expected)];
    if (missing.length > 0 || extra.length > 0) differences.push({ seed, what, missing, extra });
  };

  world.api.clock.set(iso(contract.start));
  const signed = await signContract(
    world,
    contract,
    uses.filter(({ late }) => late === undefined),
    `c${seed}`,
  );
  const { customer, subscription } = signed;
  // A wallet shows what the running period claims. It pays usage only, like a wallet that credits of a change make.
  if (contract.credits === 0 && contract.grants.length === 0)
    await world.api.postOk('/v1/wallets', {
      ...{ customer_id: customer.id, currency: moneyOf(contract) },
      config: { allowed_price_types: ['USAGE'] },
    });
  const { bills, left } = account.settled();
  const steps = [
    ...stepsOf(world, contract, account, signed, bills, note),
    ...lateSteps(world, uses, signed, bills),
  ].sort((left, right) => left.at - right.at);
  for (const { at, run } of steps) {
    world.api.clock.set(iso(at));
    await run().catch((cause: unknown) => {
      throw new Error(`${seed} at ${iso(at)}: ${JSON.stringify(contract)}`, { cause });
    });
  }
  const taken = await compareInvoices(world, contract, account, subscription, bills, note);
  // Usage that comes after an invoice is in analytics only.
  if (!uses.some(({ late }) => late === 'final'))
    await compareAnalytics(world, contract, customer, subscription, note);
  // Credits that have expired are not told apart here.
  if (contract.grants.length === 0) {
    // Credits keep 18 decimals, whatever they are worth.
    const balance = taken.plus(await balanceOf(world, signed));
    const [expected, found] = [left, balance].map((text) =>
      new Decimal(text).toDecimalPlaces(contract.creditRate === '1' ? 18 : 9).toFixed(),
    );
    note('wallet', [expected!], [found!]);
  }
  await changeAtLast(world, contract, account, subscription, note);
  await world.api.pool`update subscriptions set due_at = null where customer_id = ${customer.id}`;
  return differences.length === 0
    ? []
    : [{ seed, contract: JSON.stringify(contract) }, ...differences];
}

/** All that happens to a contract, but late usage; not sorted. */
export function stepsOf(
  world: BillingWorld,
  contract: Contract,
  account: Account,
  signed: Signed,
  bills: readonly Bill[],
  note: Note,
): Step[] {
  const { subscription } = signed;
  return [
    ...trialSteps(world, contract, subscription, note),
    ...pauseSteps(world, contract, account, subscription),
    ...quantitySteps(world, contract, subscription, note),
    ...cancelSteps(world, contract, account, subscription),
    ...addonSteps(world, contract, signed, note),
    ...familySteps(world, contract, signed),
    ...grantSteps(world, contract, bills),
    ...moveSteps(world, contract, signed, note),
    ...lineSteps(world, contract, signed),
    ...lineCouponSteps(world, contract, signed),
    ...limitSteps(world, contract, signed),
    ...bills.flatMap((bill) => billSteps(world, contract, subscription, bill, note)),
  ];
}

/**
 * Notes how the invoices of a subscription differ from the bills of its account. Returns the money that invoices of
 * later periods have taken from wallets: after a long pause they are issued together with the last ones.
 */
export async function compareInvoices(
  world: BillingWorld,
  contract: Contract,
  { periods }: Account,
  subscription: { id: string },
  bills: readonly Bill[],
  note: Note,
): Promise<Decimal> {
  const invoices = await invoicesOf(world, subscription);
  const known = new Set();
  for (const [index, bill] of bills.entries()) {
    const found = billed(invoices, bill, bills.slice(0, index));
    known.add(found);
    const hasRows = bill.rows.length > 0 || (found !== null && found.line_items.length > 0);
    const what = `${bill.reason} of ${iso(bill.period.start)}`;
    if (!hasRows) continue;
    // The rows of a change of quantity are cells; its sums are compared.
    const isChange = contract.changes.length > 0 && bill.reason === 'SUBSCRIPTION_UPDATE';
    const facts = (all: Facts) =>
      isChange ? all.filter((fact) => /^(subtotal|discount|tax|credits|total) /.test(fact)) : all;
    note(what, facts(factsOf(bill)), found === null ? null : facts(shown(found, contract)));
    if (found?.invoice_status === 'DRAFT') note(`status of ${what}`, ['FINALIZED'], ['DRAFT']);
  }
  const next = periods[contract.periods]?.start ?? Infinity;
  const others = invoices.filter((one) => !known.has(one) && Number(one.subtotal) !== 0);
  const isLater = (one: { period_start: string }) => Date.parse(one.period_start) >= next;
  for (const more of others.filter((one) => !isLater(one)))
    note(`one more: ${more.billing_reason} of ${more.period_start}`, null, shown(more, contract));
  return Decimal.sum(
    0,
    ...others.filter(isLater).map((one) => one.total_prepaid_credits_applied ?? 0),
  );
}
