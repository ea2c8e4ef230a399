import type { z } from 'zod';
import { invalidField } from '../../../domain/errors.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Scope } from '../../../postgres/client.ts';
import type { ReprocessAnswer, ReprocessBody } from '../../../schemas/event-monitoring.ts';
import type { ApiDeps } from '../../deps.ts';

/**
 * Says how many events of `[start_date, end_date)` were set aside. Nothing is appended again (that
 * would be an inert copy), and nothing is evaluated here: a meter version is immutable, so it would
 * find the same reason again. Rejected events are evaluated anew, under their own positions, by the
 * backfill of the version that an edit of their meter makes (metering 4, 6); events that are pending
 * are in the log, and the stream is on its way to them.
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
