import type { BillingWorld } from '../../support/billing-world.ts';
import { createRandom, type Random } from '../../support/random.ts';
import type { Contract } from './contract.ts';
import type { Note } from './contract-steps.ts';
import { invoicesOf } from './found-invoices.ts';
import { beside, type Facts } from './invoice-facts.ts';
import { instantsIn } from './live-previews.ts';
import { iso } from './naive-calendar.ts';
import { GRACE_MS } from './naive-contract.ts';
import { factsIn } from './preview-facts.ts';
import { offersOf, soldMore } from './preview-offers.ts';
import { changeAtRandom, type Previewed } from './previewed-changes.ts';
import { endOf, isOfDraft } from './previewed-cycles.ts';
import { drawsOf } from './previewed-groups.ts';
import { randomUses } from './random-contract.ts';
import { randomGroupPreviews } from './random-group-previews.ts';
import { ok } from './sell-offer.ts';
import { signContract, type Signed } from './sign-contract.ts';

/**
 * Lives a parent and its children, whose changes are drawn as they run. Each change is previewed and made at the same
 * instant. Each period is previewed a millisecond before it is billed: the preview of the parent is its invoice, row by
 * row, and the preview of a child is its rows there. No account says what is right.
 */
export async function liveGroupPreviews(world: BillingWorld, seed: number): Promise<object[]> {
  const random = createRandom(seed);
  const contracts = randomGroupPreviews(random);
  const differences: object[] = [];
  const done: string[] = [];
  const note: Note = (what, expected, found) => {
    const [missing, extra] = [beside(expected, found), beside(found, expected)];
    const at = iso(world.api.clock.now());
    if (missing.length > 0 || extra.length > 0)
      differences.push({ seed, what, at, missing, extra });
  };
  world.api.clock.set(iso(contracts[0]!.start));
  const lives: Previewed[] = [];
  const group: Signed[] = [];
  const sign = async (contract: Contract) => {
    const name = `c${seed}-${group.length}`;
    const more = await soldMore(world, random, contract, name);
    const isChild =
      group.length > 0 && random.chance(0.8) && (await canHaveChildren(world, group[0]!));
    const parent = isChild ? { parent_subscription_id: group[0]!.subscription.id } : {};
    const request = { ...more.request, ...parent };
    const signed = await signContract(world, contract, randomUses(random, contract), name, request);
    const offers = await offersOf(world, contract, signed, more, name);
    group.push(offers);
    lives.push({ world, random, contract, offers, group, note, done });
  };
  const [parent, ...children] = contracts;
  await sign(parent!);
  for (const child of children.filter(({ start }) => start === parent!.start)) await sign(child);
  const later = children
    .filter(({ start }) => start > parent!.start)
    .sort((left, right) => left.start - right.start);
  for (let left = parent!.periods + 1; left > 0; left -= 1) {
    const running = await runningOf(lives);
    if (running.length === 0) break;
    for (const at of instantsOf(random, running, later, world.api.clock.now())) {
      world.api.clock.set(iso(at));
      await world.close();
      if (later[0]?.start === at) await sign(later.shift()!);
      const live = random.pick(lives);
      await changeAtRandom(live, drawsOf(live));
    }
    await closeTogether(lives);
  }
  world.api.clock.set(iso(world.api.clock.now() + GRACE_MS));
  for (const { customer } of group)
    await world.api.pool`update subscriptions set due_at = null where customer_id = ${customer.id}`;
  return differences.length === 0
    ? []
    : [{ seed, done, contracts: JSON.stringify(contracts) }, ...differences];
}

/** It is active, and will be. */
async function canHaveChildren(world: BillingWorld, { subscription }: Signed): Promise<boolean> {
  const { body } = await world.api.get(`/v1/subscriptions/${subscription.id}`);
  return (
    body.subscription_status === 'active' && body.cancel_at === null && body.pauses.length === 0
  );
}

interface Running {
  readonly live: Previewed;
  readonly subscription: any;
}

/** Those that are not cancelled, as they are now. */
async function runningOf(lives: readonly Previewed[]): Promise<Running[]> {
  const running: Running[] = [];
  for (const live of lives) {
    const { id } = live.offers.subscription;
    const { body: subscription } = await live.world.api.get(`/v1/subscriptions/${id}`);
    if (subscription.subscription_status !== 'cancelled') running.push({ live, subscription });
  }
  return running;
}

/** Instants of changes in the first running period to end, and those at which children are sold in it. */
function instantsOf(
  random: Random,
  running: readonly Running[],
  later: readonly Contract[],
  now: number,
): number[] {
  const { subscription } = running.reduce((first, one) =>
    endOf(one.subscription) < endOf(first.subscription) ? one : first,
  );
  const births = later.map(({ start }) => start).filter((at) => at < endOf(subscription));
  const instants = [0, 1].flatMap(() => instantsIn(random, subscription, now));
  return [...new Set([...instants, ...births])]
    .filter((at) => at > now && at < endOf(subscription))
    .sort((left, right) => left - right);
}

/** The next end of a period, previewed a millisecond before it by all that end then, billed, and final. */
async function closeTogether(lives: readonly Previewed[]): Promise<void> {
  const { world, note, done } = lives[0]!;
  const { clock } = world.api;
  const ends = (await runningOf(lives)).map(({ subscription }) => endOf(subscription));
  const end = Math.min(...ends.filter((at) => at > clock.now()));
  if (end === Infinity) return;
  if (clock.now() < end - 1) {
    clock.set(iso(end - 1));
    await world.close();
    // Drafts of earlier periods take their credits first.
    await world.finalize();
  }
  const closing = (await runningOf(lives)).filter(
    ({ subscription }) =>
      endOf(subscription) === end &&
      ['active', 'trialing'].includes(subscription.subscription_status),
  );
  const previews: any[] = [];
  for (const { subscription } of closing)
    previews.push(await ok(world, '/invoices/preview', { subscription_id: subscription.id }));
  const before = new Set<string>();
  for (const { subscription } of closing)
    for (const { id } of await invoicesOf(world, subscription)) before.add(id);
  clock.set(iso(end));
  await world.close();
  done.push(`${iso(end)} closed`);
  const made: any[][] = [];
  for (const { subscription } of closing)
    made.push((await invoicesOf(world, subscription)).filter(({ id }) => !before.has(id)));
  clock.set(iso(end + GRACE_MS));
  await world.finalize();
  for (const [index, { live, subscription }] of closing.entries()) {
    const [previewed, own] = [previews[index], made[index]!];
    const who = `contract ${lives.indexOf(live)}`;
    const merged = made
      .flat()
      .filter(({ subscription_id }) => subscription_id === subscription.parent_subscription_id)
      .flatMap(({ line_items }) => line_items)
      .filter((row: any) => row.subscription_id === subscription.id);
    if (own.length === 0 && subscription.parent_subscription_id !== null) {
      note(
        `${who}: rows on the invoice of its parent`,
        rowsOf(merged),
        rowsOf(previewed.line_items),
      );
      continue;
    }
    if (own.length !== 1) {
      if (previewed.line_items.length > 0)
        note(`${who}: invoices at the end of the period`, ['1'], [String(own.length)]);
      continue;
    }
    const [draft, shown] = [own[0], previewed].map((one) =>
      factsIn(one, 'draft').filter(isOfDraft),
    );
    note(`${who}: draft of ${iso(end)}`, draft!, shown!);
    const { body: final } = await world.api.get(`/v1/invoices/${own[0].id}`);
    // Credits that come with the end, of any of the group, are not in a preview.
    const isWhole = closing.every((one) => endOf(one.subscription) === wholeEnd(one.subscription));
    const isKnown = isWhole ? () => true : isOfDraft;
    const [billed, said] = [final, previewed].map((one) => factsIn(one, 'final').filter(isKnown));
    note(`${who}: final of ${iso(end)}`, billed!, said!);
  }
}

const wholeEnd = ({ current_period_end }: any): number => Date.parse(current_period_end);

const rowsOf = (rows: readonly any[]): Facts =>
  rows.map((row) =>
    JSON.stringify([
      ...[row.display_name, row.kind, row.quantity, row.amount, row.period_start, row.period_end],
      ...[row.line_item_discount, row.invoice_level_discount, row.adjusted_entitlement_quantity],
    ]),
  );
