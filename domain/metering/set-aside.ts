import { BillingError } from '../errors.ts';

/** A meter version that no longer counts usage, and the reason. */
export interface SetAside {
  readonly meter_id: string;
  readonly reason: string;
}

/**
 * 503 `meter_set_aside`: later usage was not counted, so no number can be returned. Work that needs this
 * usage (an invoice, a finalization) waits until the meter's next version is complete.
 */
export const meterSetAside = ({ meter_id, reason }: SetAside): BillingError =>
  new BillingError(
    'unavailable',
    'meter_set_aside',
    `Meter ${meter_id} is set aside, so its usage is not counted: ${reason} Change the meter (PUT /v1/meters/${meter_id}): its next version counts all events again.`,
  );

/** Refuses to rate or show usage of a version that is set aside. */
export function refuseSetAside(version: {
  readonly meter_id: string;
  readonly backfill_state: string;
  readonly set_aside_reason: string | null;
}): void {
  if (version.backfill_state !== 'set_aside') return;
  throw meterSetAside({ meter_id: version.meter_id, reason: version.set_aside_reason ?? '' });
}
