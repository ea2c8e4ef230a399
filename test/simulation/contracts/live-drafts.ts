import type { BillingWorld } from '../../support/billing-world.ts';
import { createRandom } from '../../support/random.ts';
import type { Use } from './contract.ts';
import type { Note } from './contract-steps.ts';
import { beginAsPreviewed } from './begin-as-previewed.ts';
import { balanceOf, invoicesOf } from './found-invoices.ts';
import { beside, type Facts } from './invoice-facts.ts';
import { stepsOf } from './live-contract.ts';
import { iso } from './naive-calendar.ts';
import { Account, GRACE_MS } from './naive-contract.ts';
import { factsIn } from './preview-facts.ts';
import { randomUses } from './random-contract.ts';
import { randomDraft, type Drafted } from './random-draft.ts';
import { ok } from './sell-offer.ts';
import { moneyOf, signContract, type Sold } from './sign-contract.ts';

/**
 * Lives a contract twice: sold at once, and made as a draft with another start that is activated then (billing 10.5).
 * All that both are billed, all that previews say, and what is left in their wallets is the same.
 */
export async function liveDraft(world: BillingWorld, seed: number): Promise<object[]> {
  const random = createRandom(seed);
  const drafted = randomDraft(random);
  const uses = randomUses(random, drafted.contract).map(({ late: _, ...use }) => use);
  const differences: object[] = [];
  const [atOnce, activated] = [
    await lived(world, drafted, uses, false, `c${seed}-0`),
    await lived(world, drafted, uses, true, `c${seed}-1`),
  ];
  for (const what of new Set([...atOnce.keys(), ...activated.keys()])) {
    const [expected, found] = [atOnce, activated].map((facts) => facts.get(what) ?? null);
    const [missing, extra] = [beside(expected!, found!), beside(found!, expected!)];
    if (missing.length > 0 || extra.length > 0) differences.push({ seed, what, missing, extra });
  }
  return differences.length === 0
    ? []
    : [{ seed, drafted: JSON.stringify(drafted) }, ...differences];
}

/** What a contract is billed, by what tells it. */
async function lived(
  world: BillingWorld,
  drafted: Drafted,
  uses: readonly Use[],
  isDraft: boolean,
  name: string,
): Promise<Map<string, Facts>> {
  const { contract, made, activated, start } = drafted;
  const facts = new Map<string, Facts>();
  const { clock } = world.api;
  clock.set(iso(isDraft ? made : activated));
  const coupons = await couponsOf(world, drafted);
  const trial =
    typeof contract.trialOf === 'object'
      ? {
          trial_start: iso(contract.trialOf.start + start - contract.start),
          trial_end: iso(contract.trialOf.end + start - contract.start),
        }
      : {};
  const draft = { subscription_status: 'draft', start_date: iso(start), ...trial };
  const signed = await signContract(world, contract, uses, name, (sold) => ({
    ...requestOf(drafted, sold, coupons),
    ...(isDraft ? draft : {}),
  }));
  const { customer, subscription } = signed;
  if (contract.credits === 0 && contract.grants.length === 0)
    await world.api.postOk('/v1/wallets', {
      ...{ customer_id: customer.id, currency: moneyOf(contract) },
      config: { allowed_price_types: ['USAGE'] },
    });
  if (isDraft) {
    clock.set(iso(activated));
    await world.close();
    await world.finalize();
    facts.set('invoices of the draft', [String((await invoicesOf(world, subscription)).length)]);
    const body = { start_date: iso(contract.start) };
    await beginAsPreviewed(world, `/subscriptions/${subscription.id}/activate`, body);
  } else facts.set('invoices of the draft', ['0']);
  const account = new Account(contract, []);
  const { bills } = account.settled();
  const note: Note = (what, expected, found) =>
    facts.set(`preview of ${what} at ${clock.now()}`, [
      ...beside(expected, found).map((fact) => `missing ${withoutIds(fact)}`),
      ...beside(found, expected).map((fact) => `extra ${withoutIds(fact)}`),
    ]);
  const steps = [
    {
      at: activated,
      run: async () => {
        await world.close();
        await world.run('apply-credit-grants');
      },
    },
    // What is drafted late waits for its usage from then on.
    { at: activated + GRACE_MS, run: () => world.finalize() },
    ...stepsOf(world, contract, account, signed, bills, note).filter(({ at }) => at > activated),
  ].sort((left, right) => left.at - right.at);
  for (const [index, { at, run }] of steps.entries()) {
    clock.set(iso(at));
    await run().catch((cause: Error) =>
      facts.set(`step ${index} at ${iso(at)}`, [
        withoutIds(cause.message).replace(/"request_id.*/, ''),
      ]),
    );
  }
  await world.close();
  await world.finalize();
  for (const invoice of await invoicesOf(world, subscription))
    facts.set(
      `${invoice.billing_reason} from ${invoice.period_start} number ${invoice.billing_sequence}`,
      factsIn(invoice)
        .concat(`status ${invoice.invoice_status}`, `due ${invoice.due_date}`)
        .filter((fact) => !ID.test(fact)),
    );
  facts.set('wallet', [await balanceOf(world, signed)]);
  const { body } = await world.api.get(`/v1/subscriptions/${subscription.id}`);
  facts.set('subscription', recordOf(body));
  await world.api.pool`update subscriptions set due_at = null where customer_id = ${customer.id}`;
  return facts;
}

const ID = /_01[0-9A-HJKMNP-TV-Z]{24}|c\d+-\d/;
const withoutIds = (text: string): string => text.replace(new RegExp(ID, 'g'), '…');

/** Dates and states of the subscription, and the times of its lines, coupons and phases. */
function recordOf(subscription: any): Facts {
  const { line_items, coupon_associations, phases, latest_invoice: _, ...own } = subscription;
  const {
    credit_grants: grants,
    synced_price_sequence: __,
    plan: ___,
    customer: ____,
    ...dates
  } = own;
  return [
    ...factsIn(dates, 'subscription'),
    ...parts('line', line_items),
    ...parts('coupon', coupon_associations),
    ...parts('phase', phases),
    ...parts('grant', grants),
  ].filter((fact) => !ID.test(fact));
}

const parts = (name: string, all: readonly any[] | null): Facts =>
  (all ?? []).map(({ display_name, start_date, end_date, quantity }) =>
    JSON.stringify([name, display_name, start_date, end_date, quantity]),
  );

const couponsOf = async (world: BillingWorld, { coupons }: Drafted): Promise<string[]> => {
  const made: string[] = [];
  for (const { percent, periods } of coupons)
    made.push(
      (
        await ok(world, '/coupons', {
          ...{ name: 'Off', type: 'percentage', percentage_off: String(percent) },
          ...(periods === null
            ? { cadence: 'forever' }
            : { cadence: 'repeated', duration_in_periods: periods }),
        })
      ).id,
    );
  return made;
};

/** Addons and coupons in the request for the subscription. */
function requestOf({ addons, coupons }: Drafted, sold: Sold, ids: readonly string[]) {
  const line_item_coupons: Record<string, string[]> = {};
  for (const [index, { line }] of coupons.entries())
    if (line !== null) (line_item_coupons[sold.prices[line]!.id] ??= []).push(ids[index]!);
  const own = ids.filter((_, index) => coupons[index]!.line === null);
  return {
    addons: addons.map(({ index, quantity, once }) => ({
      ...{ addon_id: sold.addons[index]!.id, quantity: String(quantity) },
      ...(once ? { cadence: 'onetime' } : {}),
    })),
    ...(Object.keys(line_item_coupons).length > 0 ? { line_item_coupons } : {}),
    ...(own.length > 0 ? { coupons: own } : {}),
  };
}
