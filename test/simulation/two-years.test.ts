import { liveTwoYears } from './two-years.ts';

/**
 * Subscriptions over 24 months against a naive account of them. `SUBSCRIPTIONS=n` runs more, `SEED=n` others; a
 * mismatch names the seed of its subscription. All live by one clock and change on few days, so that an instant
 * bills many of them: 10 took 39 s and 200 take 240 s on a machine with five times as much to do as it has cores.
 */
const subscriptions = Number(process.env['SUBSCRIPTIONS'] ?? 200);
const seed = Number(process.env['SEED'] ?? 1);
const months = Number(process.env['MONTHS'] ?? 24);

/** Many subscriptions take hours. */
const PATIENCE_MS = 900_000 + subscriptions * 10_000;

test(
  'every invoice equals the naive account, all usage is billed once, and nothing else',
  async () => {
    process.stdout.write(`two years of ${subscriptions} subscriptions: SEED=${seed}\n`);
    const mismatches = await liveTwoYears({ subscriptions, seed, months });
    expect({ seed, mismatches }).toEqual({ seed, mismatches: [] });
  },
  PATIENCE_MS,
);
