import type { Transaction } from '../../postgres/client.ts';
import type { TestApi } from './api.ts';
import { eventually } from './metering-world.ts';

/**
 * Starts the commands one after the other while a transaction holds what `hold` locks: each waits for a lock before the
 * next one starts. Then all of them go on, in this order. Returns their results.
 */
export async function inTurns<Results extends unknown[]>(
  { pool }: Pick<TestApi, 'pool'>,
  hold: (tx: Transaction) => Promise<unknown>,
  ...commands: { readonly [Index in keyof Results]: () => Promise<Results[Index]> }
): Promise<Results> {
  const started: Promise<unknown>[] = [];
  await pool.begin(async (tx) => {
    await hold(tx);
    for (const command of commands) {
      started.push(command());
      await eventually(async () => {
        const waiting = await pool`
          select from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock'`;
        expect(waiting).toHaveLength(started.length);
      });
    }
  });
  return (await Promise.all(started)) as Results;
}
