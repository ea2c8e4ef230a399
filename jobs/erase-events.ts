import {
  eraseRejected,
  noteErased,
  noteFound,
  openErasures,
} from '../api/usage/erasures/repository.ts';
import type { EventEraser } from '../clickhouse/writing/event-eraser.ts';
import { epochMs, isoText } from '../domain/time/instant.ts';
import type { Pool } from '../postgres/client.ts';
import type { Erasure } from '../schemas/erasure.ts';
import type { Job } from './job.ts';

export interface EraseEventsDeps {
  readonly pool: Pool;
  readonly eventEraser: EventEraser;
}

const PER_RUN = 20;
/**
 * How long an accepted event may still be written into the usage store from the log: it stays in the log for
 * a day after the stream has passed it, and a replay goes back a day.
 */
const LOG_MS = 48 * 60 * 60 * 1000;
/** How long after its acceptance an event may still be announced as rejected, which copies its properties. */
const NOTICE_MS = 60 * 60 * 1000;

/**
 * Erases the properties of events of erased customers twice: soon after the request, and when the event log
 * can no longer bring them back. An interrupted run is repeated: erased events are not counted again.
 */
export const eraseEvents: Job<EraseEventsDeps> = {
  name: 'erase-events',
  cron: '* * * * *',
  async run({ pool, eventEraser }, { at, signal }) {
    let erased = 0;
    for (const erasure of await openErasures(pool, isoText(epochMs(at) - LOG_MS), PER_RUN)) {
      if (signal.aborted) break;
      if (!(await eraseOne(pool, eventEraser, erasure))) continue;
      await noteErased(pool, erasure.id, erasure.state === 'requested' ? 'erased' : 'complete', at);
      erased += 1;
    }
    return { erased };
  },
};

/** True if no event is left to erase. */
async function eraseOne(pool: Pool, eraser: EventEraser, erasure: Erasure): Promise<boolean> {
  const { id, tenant_id, environment_id, external_customer_id, events_until } = erasure;
  const until = epochMs(events_until);
  const events = { id, tenant_id, environment_id, external_customer_id, until };
  const noticed = isoText(until + NOTICE_MS);
  await eraseRejected(pool, { tenant_id, environment_id }, external_customer_id, noticed);
  const found = await eraser.count(events);
  if (erasure.state === 'requested') await noteFound(pool, id, found);
  if (found === 0) return true;
  await eraser.erase(events);
  return (await eraser.count(events)) === 0;
}
