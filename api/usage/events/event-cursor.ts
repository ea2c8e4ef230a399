import type {
  EventCursor,
  EventReader,
  EventSearch,
} from '../../../clickhouse/reading/event-reader.ts';
import type { RawEventRow } from '../../../clickhouse/rows.ts';
import { invalidField } from '../../../domain/errors.ts';
import type { EventsBody } from '../../../schemas/event.ts';

/**
 * Keys of `GET /events`: `<unix nanoseconds>::<event id>`, as clients know them. A key stands for all copies
 * of that id and time. If a page begins or ends among these copies, the key also contains the position:
 * `<unix nanoseconds>.<position>::<event id>`; without it the remaining copies would never be listed.
 */
const KEY = /^(\d{1,19})(?:\.(\d{1,20}))?::(.+)$/s;
const POSITION_MAX = (1n << 64n) - 1n;

type Place = Pick<RawEventRow, 'timestamp' | 'event_id'>;

/** The position that the request names, without an event name. 400 for a text that is not a key. */
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

/** A list sorted by name continues after the name of the copy; 400 if there is no such copy. */
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

/** The start of a page after the cursor. */
export const behindOf = (cursor: EventCursor | null): Place | undefined =>
  cursor?.side === 'behind' ? cursor : undefined;

/** The key of a page's first or last event; `neighbour` is the event next to it, outside of the page. */
export function keyOf(
  { sort }: EventSearch,
  event: RawEventRow | undefined,
  neighbour: Place | undefined,
): string | null {
  if (event === undefined) return null;
  const { timestamp, event_id, position, is_canonical } = event;
  const isAmongCopies = neighbour?.timestamp === timestamp && neighbour.event_id === event_id;
  // In a list by name, copies with other names are not adjacent. Only the canonical copy needs no name.
  const namesCopy = isAmongCopies || (sort === 'event_name' && !is_canonical);
  return `${timestamp}000000${namesCopy ? `.${position}` : ''}::${event_id}`;
}
