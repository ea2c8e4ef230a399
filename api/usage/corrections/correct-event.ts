import { notFound } from '../../../domain/errors.ts';
import type { Correction, CreateCorrectionBody } from '../../../schemas/correction.ts';
import type { ApiDeps } from '../../deps.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { keepCorrection } from './repository.ts';

/**
 * Takes an event back (metering 6, "Corrections"): from the position at which the void stands in the
 * log, no usage counts the event, buckets are sealed again, and what was read below an older vector
 * stays. Every later copy of the id stays inert. An event is taken back once; asking again answers the
 * first correction. 404 for an id of which no copy has been stored: an event is stored within seconds
 * of its acceptance, so a void can never stand in the log before its event.
 */
export async function correctEvent(
  deps: Pick<ApiDeps, 'pool' | 'ids' | 'clock' | 'eventReader'>,
  caller: Caller & { readonly request_id: string },
  body: CreateCorrectionBody,
): Promise<Correction> {
  const { event_id, type, reason } = body;
  const { canonical } = await deps.eventReader.history({ ...caller.scope, event_id }, 1);
  if (canonical === null) throw notFound('Event', event_id);
  return await keepCorrection(deps.pool, {
    ...newRecord(deps, caller, 'correction'),
    event_id,
    type,
    reason,
    request_id: caller.request_id,
    logged_at: null,
  });
}
