/**
 * Condition on rows of `events_raw_v1`: where copies of one event id lie (`{event_id:String}`). It only
 * leads to them, so that the table's own order is used; the id must be compared beside it. Belongs to
 * a statement with the parameters `tenant_id` and `environment_id`.
 */
export const AT_EVENT = placesOf(`event_hash = ${hashOf('{event_id:String}')}`);

/** The same for several ids, `{event_ids:Array(String)}`. */
export const AT_EVENTS = placesOf(
  `event_hash in (select arrayJoin(arrayMap(id -> ${hashOf('id')}, {event_ids:Array(String)})))`,
);

/** The same for rows of `meter_usage_v1`, which have no id: they may be another event's of that time. */
export const USAGE_AT_EVENT = `(external_customer_id, timestamp) in (
           select external_customer_id, timestamp from event_places_v1
            where event_hash = ${hashOf('{event_id:String}')})`;

function placesOf(hashes: string): string {
  return `(event_name, external_customer_id, timestamp) in (
           select event_name, external_customer_id, timestamp from event_places_v1 where ${hashes})`;
}

/** As the view that fills the table computes it. */
function hashOf(id: string): string {
  return `toUInt32(sipHash64({tenant_id:String}, {environment_id:String}, ${id}))`;
}
