import type { Transaction } from '../../../postgres/client.ts';
import { endMeterVersion, meterVersionsOf } from '../../../postgres/tables/meter-versions.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { archiveMeter, lockMeter } from './repository.ts';

/**
 * Archives a meter and ends its versions (metering 6). Events that the stream processes after it has noticed
 * are not counted, and the debugger reports this. Metered usage stays and can be billed.
 */
export async function disableMeter(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
): Promise<void> {
  await lockMeter(tx, caller.scope, id);
  await archiveMeter(tx, deps, caller, id);
  const versions = await meterVersionsOf(tx, caller.scope, [id]);
  for (const version of versions) {
    if (version.ended_catalog_version === null)
      await endMeterVersion(tx, caller.scope, version.id, caller.user_id);
  }
}
