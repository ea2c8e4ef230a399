import type { RawEventRow } from '../../../clickhouse/rows.ts';
import { compileFilters } from '../../../domain/metering/match.ts';
import { unpackPosition } from '../../../domain/metering/position.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import type { EventMetering } from '../../../schemas/event.ts';
import { propertiesOf } from './answers.ts';
import { findEndedVersions } from './repository.ts';

/**
 * Meter versions that would have counted the event, but ended before the stream reached it: their meter was
 * disabled. Usage of the event in such a version does not count (metering 4, step 5).
 */
export async function endedVersions(
  db: Db,
  scope: Scope,
  event: RawEventRow,
): Promise<EventMetering[]> {
  const { epoch, offset } = unpackPosition(event.position);
  const { event_name, partition } = event;
  const versions = await findEndedVersions(db, scope, event_name, { epoch, partition, offset });
  const properties = propertiesOf(event) ?? {};
  return versions
    .filter(({ spec }) => compileFilters(spec.filters)(properties))
    .map(({ id, meter_id }) => ({
      meter_id,
      meter_version_id: id,
      quantity: null,
      reason: 'meter_disabled',
      message: 'The meter had been disabled when the event was processed.',
    }));
}
