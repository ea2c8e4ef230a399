import type {
  EventCursor,
  EventReader,
  EventSearch,
} from '../../../clickhouse/reading/event-reader.ts';
import type { RawEventRow } from '../../../clickhouse/rows.ts';
import { invalidField } from '../../../domain/errors.ts';
import type { EventsBody } from '../../../schemas/event.ts';

/**
 * Keys of `GET /events`: `<unix nanoseconds>::<event id>`, as clients know them. It stands for all copies
 * of that id and time. Where a page begins or ends among such copies, the key also says at which:
 * `<unix nanoseconds>.<position>::<event id>`; without it the rest of them would never be listed.
 */
const KEY = /^(\d{1,19})(?:\.(\d{1,20}))?::(.+)$/s;
const POSITION_MAX = (1n << 64n) - 1n;

type Place = Pick<RawEventRow, 'timestamp' | 'event_id'>;

/** The place that the question names, without its name. 400 for a text that is no key. */
export function cursorOf(body: EventsBody): EventCursor | null {
  const name = body.iter_last_key ? 'iter_last_key' : 'iter_first_key';
  const key = body[name];
  if (!key) return null;
  const [, nanoseconds, copy, event_id] = KEY.exec(key) ?? [];
  const position = copy === undefined ? null : BigInt(copy);
  if (nanoseconds === undefined || event_id === undefined || (position ?? 0n) > POSITION_MAX)
    throw invalidField(name, 'Invalid cursor key format');
  return {
    side: name === 'iter_last_key' ? 'behind' : 'before',
    timestamp: Number(BigInt(nanoseconds) / 1_000_000n),
    event_id,
    position,
    event_name: null,
  };
}

/** A list that is sorted by name goes on behind the name of the copy; 400 when there is no such copy. */
export async function namedCursor(
  reader: Pick<EventReader, 'list'>,
  search: EventSearch,
  cursor: EventCursor,
): Promise<EventCursor> {
  if (search.sort === 'timestamp') return cursor;
  const { timestamp, event_id, position } = cursor;
  const [copy] = await reader.list({
    ...search,
    external_customer_id: null,
    event_name: null,
    source: null,
    property_filters: {},
    event_id,
    start: timestamp,
    end: timestamp,
    sort: 'timestamp',
    order: 'asc',
    cursor: position ? { ...cursor, side: 'behind', position: position - 1n } : null,
    limit: 1,
    offset: 0,
  });
  if (copy === undefined)
    throw invalidField(
      cursor.side === 'behind' ? 'iter_last_key' : 'iter_first_key',
      'Invalid cursor key: there is no such event',
    );
  return { ...cursor, event_name: copy.event_name };
}

/** What stands before a page that goes on behind the cursor. */
export const behindOf = (cursor: EventCursor | null): Place | undefined =>
  cursor?.side === 'behind' ? cursor : undefined;

/** The key of a page's first or last event; `neighbour` stands next to it, outside of the page. */
export function keyOf(
  { sort }: EventSearch,
  event: RawEventRow | undefined,
  neighbour: Place | undefined,
): string | null {
  if (event === undefined) return null;
  const { timestamp, event_id, position, is_canonical } = event;
  const isAmongCopies = neighbour?.timestamp === timestamp && neighbour.event_id === event_id;
  // Copies of other names stand elsewhere in a list by name, which the counted copy alone can do without.
  const namesCopy = isAmongCopies || (sort === 'event_name' && !is_canonical);
  return `${timestamp}000000${namesCopy ? `.${position}` : ''}::${event_id}`;
}
