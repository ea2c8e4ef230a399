import { startBillingWorld, type BillingWorld } from '../support/billing-world.ts';
import { liveContract } from './contracts/live-contract.ts';
import { offerCustomCurrency } from './contracts/sign-contract.ts';

/**
 * Contracts of random shape against a naive account of each of their invoices, and against the preview of each a
 * millisecond before it. At the end of each, quantities and the plan change as their previews said. `CONTRACTS=n` lives
 * more, `SEED=n` others; a difference names the seed of its contract. Without the changes, 60 took 115 s on two cores
 * that had other work too.
 */
const contracts = Number(process.env['CONTRACTS'] ?? 8);
const seed = Number(process.env['SEED'] ?? 1);

let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
  await offerCustomCurrency(world);
});
afterAll(() => world.stop());

test(
  'every invoice is as the naive account says, and as its preview said',
  async () => {
    process.stdout.write(`${contracts} contracts: SEED=${seed}\n`);
    const differences: object[] = [];
    for (let index = 0; index < contracts; index += 1)
      differences.push(...(await liveContract(world, seed * 100_000 + index)));
    expect(differences).toEqual([]);
  },
  900_000 + contracts * 10_000,
);
