import { Decimal } from '../../../domain/money.ts';
import type { BillingWorld } from '../../support/billing-world.ts';
import { createRandom } from '../../support/random.ts';
import {
  billSteps,
  cancelSteps,
  familySteps,
  quantitySteps,
  type Note,
  type Step,
} from './contract-steps.ts';
import { balanceOf } from './found-invoices.ts';
import type { Child, GroupUse } from './group.ts';
import { beside } from './invoice-facts.ts';
import { compareInvoices } from './live-contract.ts';
import { iso } from './naive-calendar.ts';
import { settledGroup, type Settled } from './naive-group.ts';
import { randomGroup, randomGroupUses } from './random-group.ts';
import { ok } from './sell-offer.ts';
import { signContract, type Signed } from './sign-contract.ts';

/** What differs, in words, for a parent and its children; empty: every invoice is as the naive account says. */
export async function liveGroup(world: BillingWorld, seed: number): Promise<object[]> {
  const random = createRandom(seed);
  const group = randomGroup(random);
  const uses = randomGroupUses(random, group);
  const differences: object[] = [];
  const noteOf =
    (who: string): Note =>
    (what, expected, found) => {
      const [missing, extra] = [beside(expected, found), beside(found, expected)];
      if (missing.length > 0 || extra.length > 0)
        differences.push({ seed, what: `${who}: ${what}`, missing, extra });
    };
  const settled = settledGroup(group, uses);
  const signed: Signed[] = [];
  const sign = async (index: number, more: object) => {
    const { contract } = settled[index]!;
    const own = uses.filter(({ of, arrives }) => of === index && arrives === null);
    signed[index] = await signContract(world, contract, own, `c${seed}-${index}`, more);
    return [
      ...stepsOf(world, settled[index]!, signed[index], noteOf(`contract ${index}`)),
      ...lateSteps(
        world,
        uses.filter(({ of, arrives }) => of === index && arrives !== null),
        signed[index],
      ),
    ];
  };
  world.api.clock.set(iso(group.parent.start));
  let open = await sign(0, {});
  const births = group.children.map((child, index): Step => ({
    at: child.contract.start,
    run: async () => {
      const parent = signed[0]!;
      const more = child.joins === null ? { parent_subscription_id: parent.subscription.id } : {};
      open.push(
        ...(await sign(index + 1, more)),
        ...groupSteps(world, child, parent, signed[index + 1]!),
      );
    },
  }));
  open.push(...births);
  while (open.length > 0) {
    const next = open.reduce((first, step) => (step.at < first.at ? step : first));
    open = open.filter((step) => step !== next);
    world.api.clock.set(iso(next.at));
    await next.run().catch((cause: unknown) => {
      throw new Error(`${seed} at ${iso(next.at)}: ${JSON.stringify(group)}`, { cause });
    });
  }
  for (const [index, { contract, account, bills, left }] of settled.entries()) {
    const note = noteOf(`contract ${index}`);
    const { subscription, customer } = signed[index]!;
    await compareInvoices(world, contract, account, subscription, bills, note);
    note('wallet', [new Decimal(left).toFixed()], [await balanceOf(world, signed[index]!)]);
    await world.api.pool`update subscriptions set due_at = null where customer_id = ${customer.id}`;
  }
  return differences.length === 0 ? [] : [{ seed, group: JSON.stringify(group) }, ...differences];
}

const stepsOf = (
  world: BillingWorld,
  { contract, account, bills }: Settled,
  signed: Signed,
  note: Note,
): Step[] => [
  ...quantitySteps(world, contract, signed.subscription, note),
  ...cancelSteps(world, contract, account, signed.subscription),
  ...familySteps(world, contract, signed),
  ...bills.flatMap((bill) => billSteps(world, contract, signed.subscription, bill, note)),
];

/** Usage arrives when drafts have been computed, or are final. */
const lateSteps = (
  world: BillingWorld,
  uses: readonly GroupUse[],
  { meters, customer, others }: Signed,
): Step[] =>
  uses.map(({ at, arrives, by, service, value }) => ({
    at: arrives!,
    run: () => world.usage.use(meters.get(service)!, [customer, ...others][by]!, iso(at), value),
  }));

/** A child joins and leaves. */
function groupSteps(
  world: BillingWorld,
  { joins, leaves, asked }: Child,
  parent: Signed,
  child: Signed,
): Step[] {
  const [of, named] =
    asked === 'parent'
      ? [parent, { child_subscription_ids: [child.subscription.id] }]
      : [child, { parent_subscription_id: parent.subscription.id }];
  const modify = (action: 'add' | 'remove') =>
    ok(world, `/subscriptions/${of.subscription.id}/modify/execute`, {
      ...{ type: 'grouped_invoicing', grouped_invoicing_params: { action, ...named } },
    });
  return [
    ...(joins === null ? [] : [{ at: joins, run: () => modify('add') }]),
    ...(leaves === null ? [] : [{ at: leaves, run: () => modify('remove') }]),
  ];
}
