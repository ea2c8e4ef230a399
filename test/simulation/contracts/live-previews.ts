import type { BillingWorld } from '../../support/billing-world.ts';
import { createRandom, type Random } from '../../support/random.ts';
import type { Note } from './contract-steps.ts';
import { beside } from './invoice-facts.ts';
import { iso } from './naive-calendar.ts';
import { GRACE_MS } from './naive-contract.ts';
import { closeAsPreviewed } from './previewed-cycles.ts';
import { changeAtRandom, type Previewed } from './previewed-changes.ts';
import { withPreviews } from './random-previews.ts';
import { offersOf, soldMore } from './preview-offers.ts';
import { randomUses } from './random-contract.ts';
import { signContract } from './sign-contract.ts';

/**
 * Lives a contract whose changes are drawn as it runs. Each change is previewed and made at the same instant, and each
 * period is previewed a millisecond before it is billed: what differs, in words. No account says what is right.
 */
export async function livePreviews(world: BillingWorld, seed: number): Promise<object[]> {
  const random = createRandom(seed);
  const contract = withPreviews(random);
  const uses = randomUses(random, contract);
  const differences: object[] = [];
  const done: string[] = [];
  const note: Note = (what, expected, found) => {
    const [missing, extra] = [beside(expected, found), beside(found, expected)];
    const at = iso(world.api.clock.now());
    if (missing.length > 0 || extra.length > 0)
      differences.push({ seed, what, at, missing, extra });
  };
  world.api.clock.set(iso(contract.start));
  const more = await soldMore(world, random, contract, `c${seed}`);
  const signed = await signContract(world, contract, uses, `c${seed}`, more.request);
  const offers = await offersOf(world, contract, signed, more, `c${seed}`);
  const live: Previewed = { world, random, contract, offers, group: [offers], note, done };
  const read = async () =>
    (await world.api.get(`/v1/subscriptions/${signed.subscription.id}`)).body;
  for (let left = contract.periods + 1; left > 0; left -= 1) {
    const subscription = await read();
    if (subscription.subscription_status === 'cancelled') break;
    for (const at of instantsIn(random, subscription, world.api.clock.now())) {
      world.api.clock.set(iso(at));
      await world.close();
      await changeAtRandom(live);
    }
    await closeAsPreviewed(live, read);
  }
  world.api.clock.set(iso(world.api.clock.now() + GRACE_MS));
  await world.api
    .pool`update subscriptions set due_at = null where customer_id = ${signed.customer.id}`;
  return differences.length === 0
    ? []
    : [{ seed, done, contract: JSON.stringify(contract) }, ...differences];
}

/** Up to four instants of what is left of the running period, in order; in a pause, of as much time after now. */
export function instantsIn(random: Random, subscription: any, now: number): number[] {
  const [start, end] = [subscription.current_period_start, subscription.current_period_end].map(
    (time: string) => Date.parse(time),
  ) as [number, number];
  const from = Math.max(start, now);
  const until = subscription.subscription_status === 'paused' ? from + end - start : end;
  return Array.from(
    { length: random.below(5) },
    () => from + 1 + Math.floor((until - from - 2) * random.next()),
  )
    .filter((at) => at > now)
    .sort((first, second) => first - second);
}
