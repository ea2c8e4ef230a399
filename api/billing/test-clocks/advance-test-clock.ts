import { BillingError, invalidField } from '../../../domain/errors.ts';
import type { TestClock } from '../../../schemas/test-clock.ts';
import type { ApiDeps } from '../../deps.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import { lockTestClock, startAdvance } from '../../customers/test-clocks/repository.ts';
import { storeWatermarks } from '../computing/stored-watermarks.ts';
import { retryRefusedBilling } from './advance-repository.ts';

const YEARS_MAX = 5;

/**
 * Lets the job move the clock to `to`, at most five years further (billing 22.1). Everything accepted before
 * the call is billed: the job waits until the stream has passed the log's ends as they are now. A failed clock
 * tries again what failed. 409 `clock_advancing` while an advance runs.
 */
export async function advanceTestClock(
  deps: ApiDeps,
  caller: Caller,
  id: string,
  to: string,
): Promise<TestClock> {
  const { scope } = caller;
  const heads = storeWatermarks(await deps.readLogHeads());
  return await deps.pool.begin(async (tx) => {
    const clock = await lockTestClock(tx, scope, id);
    assertAdvances(clock, to);
    await retryRefusedBilling(tx, scope, id);
    return await startAdvance(tx, scope, id, { advancing_to: to, ...changed(deps, caller) }, heads);
  });
}

function assertAdvances({ status, now }: TestClock, to: string): void {
  if (status === 'advancing')
    throw new BillingError(
      'conflict',
      'clock_advancing',
      'The test clock is advancing. Wait until its status is ready or failed.',
    );
  if (status === 'archived') throw invalidField('id', 'is a deleted clock, which cannot advance');
  if (to <= now) throw invalidField('to', `must be later than the clock's time (${now})`);
  const latest = new Date(now);
  latest.setUTCFullYear(latest.getUTCFullYear() + YEARS_MAX);
  if (to > latest.toISOString())
    throw invalidField('to', `must be at most ${YEARS_MAX} years after the clock's time (${now})`);
}
