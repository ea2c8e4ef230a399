import { notFound } from '../../../domain/errors.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { restartBackfill } from '../../../postgres/tables/meter-backfills.ts';
import { meterVersionsOf, setEffectiveFrom } from '../../../postgres/tables/meter-versions.ts';
import type { BackfillMeterBody, MeterVersion } from '../../../schemas/meter.ts';
import type { Caller } from '../../conventions/record.ts';
import { lockMeter } from './repository.ts';
import { versionAnswers } from './versions.ts';

/**
 * Restarts the backfill of a mismatched version, and on request sets from which billing periods the version
 * applies (metering 6). A new version starts its backfill automatically. So for a version that waits, runs or
 * is complete there is nothing to start: the answer reports its progress. Default: the newest version. 404 if
 * the meter or the version does not exist.
 */
export async function backfillMeter(
  tx: Transaction,
  caller: Caller,
  meterId: string,
  { version_id, effective_from }: BackfillMeterBody,
): Promise<MeterVersion> {
  const { scope, user_id } = caller;
  await lockMeter(tx, scope, meterId);
  const versions = await meterVersionsOf(tx, scope, [meterId]);
  const version = version_id == null ? versions[0] : versions.find(({ id }) => id === version_id);
  if (version === undefined) throw notFound('Meter version', version_id ?? meterId);
  await restartBackfill(tx, scope, version.id, user_id);
  if (effective_from !== undefined)
    await setEffectiveFrom(tx, scope, version.id, effective_from, user_id);
  const now = await meterVersionsOf(tx, scope, [meterId]);
  const [answer] = await versionAnswers(
    tx,
    now.filter(({ id }) => id === version.id),
  );
  return answer!;
}
