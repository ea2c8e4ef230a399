import type { RawEventRow } from '../../../clickhouse/rows.ts';
import { compileFilters } from '../../../domain/metering/match.ts';
import { unpackPosition } from '../../../domain/metering/position.ts';
import type { MeterVersion } from '../../../domain/metering/usage.ts';
import { inScope, type Db, type Scope } from '../../../postgres/client.ts';
import type { EventMetering } from '../../../schemas/event.ts';
import { propertiesOf } from './answers.ts';

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
  const versions = await db<Pick<MeterVersion, 'id' | 'meter_id' | 'spec'>[]>`
    select v.id, v.meter_id, v.spec
      from meter_versions v
      join meter_live l on l.meter_version_id = v.id
     where ${inScope(db, scope, 'v')}
       and v.spec ->> 'event_name' = ${event.event_name}
       and l.epoch = ${epoch} and l.partition = ${event.partition}
       and l.live_until <= ${String(offset)}::bigint
     order by v.meter_id, v.version`;
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
