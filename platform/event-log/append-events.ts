import { partitionOf, slotOf, slotScope } from '../../schemas/events/slot.ts';
import { encodeEvents, type UsageEvent } from '../../schemas/events/usage-event.ts';
import { EpochClosed, type EventLog } from './event-log.ts';

const EPOCH_CHANGES_MAX = 3;

/**
 * Appends a few entries, each to the partition of its slot, and resolves when all are durable. For entries
 * that the product itself writes; the edge has a batcher. If the log is resized in between, the partitions
 * are chosen again.
 */
export async function appendEvents(
  log: Pick<EventLog, 'append' | 'epoch' | 'partitions'>,
  events: readonly UsageEvent[],
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const { epoch, partitions } = log;
    const records = events.map((event) => {
      const slot = slotOf(slotScope(event.tenant_id, event.environment_id), event.event_id);
      const partition = partitionOf(slot, partitions);
      return { epoch, partition, value: encodeEvents([event]), eventCount: 1 };
    });
    try {
      return await log.append(records);
    } catch (error) {
      if (!(error instanceof EpochClosed) || attempt === EPOCH_CHANGES_MAX) throw error;
    }
  }
}
