/**
 * Condition on rows of `events_raw_v1`: the places of the copies of one event id (`{event_id:String}`). It
 * only narrows the search to the table's own order; the statement must also compare the id. For statements
 * with the parameters `tenant_id` and `environment_id`.
 */
export const AT_EVENT = placesOf(`event_hash = ${hashOf('{event_id:String}')}`);

/** The same for several ids, `{event_ids:Array(String)}`. */
export const AT_EVENTS = placesOf(
  `event_hash in (select arrayJoin(arrayMap(id -> ${hashOf('id')}, {event_ids:Array(String)})))`,
);

/**
 * The same for rows of `meter_usage_v1`. They have no id, so they may belong to another event at the same
 * place.
 */
export const USAGE_AT_EVENT = `(external_customer_id, timestamp) in (
           select external_customer_id, timestamp from event_places_v1
            where event_hash = ${hashOf('{event_id:String}')})`;

function placesOf(hashes: string): string {
  return `(event_name, external_customer_id, timestamp) in (
           select event_name, external_customer_id, timestamp from event_places_v1 where ${hashes})`;
}

/** The same expression as in the view that fills the table. */
function hashOf(id: string): string {
  return `toUInt32(sipHash64({tenant_id:String}, {environment_id:String}, ${id}))`;
}
