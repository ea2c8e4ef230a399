import type { ClickHouseQuery } from '../client.ts';

/**
 * Slot (16 bytes) and smallest position (8 bytes) of the slots that are known. Slots come as one
 * text, because a list of ten thousand literals takes the parser longer than the look-up; and only
 * the groups they fall in are opened.
 */
export function smallestPositions(
  slots: readonly string[],
  groups: readonly number[],
): ClickHouseQuery {
  return {
    sql: `
      select UUIDToNum(slot) as slot_bytes, min(position) as smallest
        from event_index_v1
       where slot_group in {groups:Array(UInt8)}
         and slot in (select toUUID(arrayJoin(splitByChar(',', {slots:String}))))
       group by slot`,
    params: { slots: slots.join(','), groups },
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
       limit {limit:UInt32}`,
    params: { group, after, limit },
  };
}
