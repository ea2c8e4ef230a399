import { eventNotFound } from '../../../domain/errors.ts';
import type { Correction, CreateCorrectionBody } from '../../../schemas/correction.ts';
import type { ApiDeps } from '../../deps.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { keepCorrection } from './repository.ts';

/**
 * Voids an event (metering 6, "Corrections"). From the void's position in the log on, no usage counts the
 * event and buckets are sealed again; what was read below an older vector stays. Every later copy of the id
 * stays inert. An event is voided once; a repetition returns the first correction. 404 for an id without a
 * stored copy: an event is stored within seconds of its acceptance, so a void can never precede its event in
 * the log.
 */
export async function correctEvent(
  deps: Pick<ApiDeps, 'pool' | 'ids' | 'clock' | 'eventReader'>,
  caller: Caller & { readonly request_id: string },
  body: CreateCorrectionBody,
): Promise<Correction> {
  const { event_id, type, reason } = body;
  const { canonical } = await deps.eventReader.history({ ...caller.scope, event_id }, 1);
  if (canonical === null) throw eventNotFound(event_id);
  return await keepCorrection(deps.pool, {
    ...newRecord(deps, caller, 'correction'),
    event_id,
    type,
    reason,
    request_id: caller.request_id,
    logged_at: null,
  });
}
