import type { RejectedRow } from '../clickhouse/rows.ts';

type RejectedEvent = Pick<
  RejectedRow,
  'tenant_id' | 'environment_id' | 'event_id' | 'event_name' | 'external_customer_id'
> & { readonly ingested_at: number };

/**
 * The row of an event that is set aside: by one meter version, or the event itself if `meter_version_id` is left out.
 * `ingested_at`: default, that of the event.
 */
export function rejectedRow<Position>(
  event: RejectedEvent,
  at: { readonly partition: number; readonly position: Position },
  why: Pick<RejectedRow, 'reason' | 'message'> &
    Partial<Pick<RejectedRow, 'meter_version_id' | 'ingested_at' | 'raw'>>,
) {
  return {
    tenant_id: event.tenant_id,
    environment_id: event.environment_id,
    event_id: event.event_id,
    event_name: event.event_name,
    external_customer_id: event.external_customer_id,
    meter_version_id: why.meter_version_id ?? '',
    partition: at.partition,
    position: at.position,
    ingested_at: why.ingested_at ?? event.ingested_at,
    reason: why.reason,
    message: why.message,
    raw: why.raw ?? '',
  };
}
