import assert from 'node:assert/strict';
import type { ClickHouseQuery } from '../client.ts';
import { STOPS_EARLY } from './paging.ts';

/**
 * Slot (16 bytes) and smallest position (8 bytes) of the slots that the index has. Slots are passed as one
 * text, because parsing a list of ten thousand literals takes longer than the look-up; only their groups are
 * read. The text is part of the statement: servers limit the length of a parameter, and hexadecimal digits
 * cannot end a literal.
 */
export function smallestPositions(
  slots: readonly string[],
  groups: readonly number[],
): ClickHouseQuery {
  const text = slots.join(',');
  assert(/^[0-9a-f,]*$/.test(text), 'a slot is hexadecimal');
  return {
    sql: `
      select UUIDToNum(slot) as slot_bytes, min(position) as smallest
        from event_index_v1
       where slot_group in {groups:Array(UInt8)}
         and slot in (select toUUID(arrayJoin(splitByChar(',', '${text}'))))
       group by slot`,
    params: { groups },
  };
}

/** The next slots of one group, 16 bytes each, in the order of the table. */
export function indexedSlots(group: number, after: string, limit: number): ClickHouseQuery {
  return {
    sql: `
      select UUIDToNum(slot) as slot_bytes
        from event_index_v1
       where slot_group = {group:UInt8} and slot > {after:UUID}
       order by slot
       limit {limit:UInt32}
    settings ${STOPS_EARLY}`,
    params: { group, after, limit },
  };
}
