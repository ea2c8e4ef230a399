import { startBillingWorld, type BillingWorld } from '../support/billing-world.ts';
import { KINDS, type Kind } from './contracts/contract.ts';
import { liveGroup } from './contracts/live-group.ts';
import { liveContract } from './contracts/live-contract.ts';
import { liveDraft } from './contracts/live-drafts.ts';
import { liveGroupPreviews } from './contracts/live-group-previews.ts';
import { livePreviews } from './contracts/live-previews.ts';
import { offerCustomCurrency, offerPriceUnits } from './contracts/sign-contract.ts';

/**
 * Contracts of random shape against a naive account of each of their invoices, against the preview of each a
 * millisecond before it, and against usage analytics of its time. Kinds of contracts take turns. At the end of each,
 * quantities and the plan change as their previews said. Contracts of the kinds `previews` and `group previews` have no
 * account: changes of every type are previewed and made. Neither have those of the kind `drafts`: a draft that is
 * activated is billed as a subscription that is sold at once.
 * `CONTRACTS=n` lives more, `SEED=n` others, `KIND=name` those of one kind; a difference names the seed and the kind of
 * its contract.
 */
const contracts = Number(process.env['CONTRACTS'] ?? KINDS.length);
const seed = Number(process.env['SEED'] ?? 1);
const kinds = KINDS.filter((kind) => kind === (process.env['KIND'] ?? kind));

let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
  await offerCustomCurrency(world);
  await offerPriceUnits(world);
});
afterAll(() => world.stop());

function live(one: number, kind: Kind): Promise<object[]> {
  if (kind === 'groups') return liveGroup(world, one);
  if (kind === 'drafts') return liveDraft(world, one);
  if (kind === 'group previews') return liveGroupPreviews(world, one);
  return kind === 'previews' ? livePreviews(world, one) : liveContract(world, one, kind);
}

test(
  'every invoice is as the naive account says, and as its preview said',
  async () => {
    process.stdout.write(`${contracts} contracts: SEED=${seed}\n`);
    const differences: object[] = [];
    for (let index = 0; index < contracts; index += 1) {
      const [one, kind] = [seed * 100_000 + index, kinds[index % kinds.length]!];
      differences.push(...(await live(one, kind)));
    }
    expect(differences).toEqual([]);
  },
  900_000 + contracts * 10_000,
);
