import type { BillingDeps, FillEnvironment, SeedStart } from '../../deps.ts';
import { endKeys } from '../../tenancy/users/key-chain-repository.ts';
import { noteSeed } from './repository.ts';

const RENEW_MS = 20_000;

/**
 * Fills environments in the background. Progress and outcome are stored in the environment's row. The key ends
 * with the work. A process that is stopped leaves a row that nobody renews; it counts as failed.
 */
export function createSeeder(
  deps: BillingDeps,
  fill: FillEnvironment,
): (start: SeedStart) => Promise<void> {
  const { pool, clock, log } = deps;
  return async ({ scope, user_id, api_key, key_id, seed, events }) => {
    const note = (change: Parameters<typeof noteSeed>[2]) =>
      noteSeed(pool, scope, change, clock.now()).catch((error: unknown) =>
        log.warn({ err: error, ...scope }, 'progress of generated data is not stored'),
      );
    const renewal = setInterval(() => void note({}), RENEW_MS);
    renewal.unref();
    let outcome: Parameters<typeof note>[0];
    try {
      const onProgress = (step: string, events_sent: number) => note({ step, events_sent });
      await fill({ api_key, seed, events, until: clock.now(), onProgress });
      outcome = { state: 'completed' };
    } catch (error) {
      log.error({ err: error, ...scope }, 'an environment is not filled with generated data');
      outcome = { state: 'failed', error: error instanceof Error ? error.message : String(error) };
    } finally {
      clearInterval(renewal);
    }
    try {
      const ended = await pool.begin((tx) => endKeys(tx, deps, { scope, user_id }, [key_id]));
      for (const id of ended) await deps.forgetApiKey(id);
    } catch (error) {
      log.warn({ err: error, ...scope }, 'the key of generated data is not ended; it expires');
    }
    await note(outcome);
  };
}
