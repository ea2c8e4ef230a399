import type { z } from 'zod';
import { invalidField } from '../../../domain/errors.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Scope } from '../../../postgres/client.ts';
import type { ReprocessAnswer, ReprocessBody } from '../../../schemas/event-monitoring.ts';
import type { ApiDeps } from '../../deps.ts';

/**
 * Returns how many events of `[start_date, end_date)` were rejected. Appends nothing (that would be an inert
 * copy) and evaluates nothing: a meter version is immutable, so the reason would be the same. An edit of the
 * meter creates a version, and its backfill evaluates rejected events again under their own positions
 * (metering 4, 6). Pending events are in the log, and the stream will process them.
 */
export async function reprocessEvents(
  deps: ApiDeps,
  scope: Scope,
  body: ReprocessBody,
): Promise<z.infer<typeof ReprocessAnswer>> {
  const end = body.end_date ?? isoTime(deps.clock.now());
  if (end <= body.start_date) throw invalidField('start_date', 'must be before end_date');
  const { rejected } = await deps.eventReader.counts({
    ...scope,
    start: Date.parse(body.start_date),
    end: Date.parse(end),
    step: 0,
  });
  const id = deps.ids.next('task');
  return {
    message:
      `${rejected} events of this time were rejected by a meter. ` +
      'Editing the meter evaluates them again under their original positions.',
    workflow_id: id,
    run_id: id,
  };
}
