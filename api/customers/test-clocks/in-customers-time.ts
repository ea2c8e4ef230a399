import type { Db, Scope } from '../../../postgres/client.ts';
import type { BillingDeps } from '../../deps.ts';
import { namesIn, timeOfNames } from './time-of-names.ts';

/** The dependencies with the clock of the customers that own the named records. */
export async function inCustomersTime<Deps extends Pick<BillingDeps, 'clock'>>(
  db: Db,
  deps: Deps,
  scope: Scope,
  ids: readonly string[],
): Promise<Deps> {
  const time = await timeOfNames(db, scope, namesIn({ ids }), false);
  return time === null ? deps : { ...deps, clock: { now: () => Date.parse(time) } };
}
