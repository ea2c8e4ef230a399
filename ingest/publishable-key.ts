import { BillingError, type ErrorDetail } from '../domain/errors.ts';
import type { Identity } from '../platform/identity/identity.ts';
import { EVENT_ID_LENGTH_MAX } from '../schemas/events/event-bodies.ts';
import type { UsageEvent } from '../schemas/events/usage-event.ts';
import { isLongerThan } from '../schemas/text-length.ts';
import type { EventFormat } from './parse-events.ts';

/**
 * Restricts events to what the key may send. Every visitor of a page can read its publishable key, so the ids
 * of its events begin with the key's id: they cannot occupy the id of another sender's event. A key that is
 * limited to some event names or to one customer sends nothing else: 400 with every field that differs
 * (tenancy 52).
 */
export function asKeySends(
  identity: Identity,
  events: UsageEvent[],
  format: EventFormat,
): UsageEvent[] {
  if (identity.kind !== 'key' || identity.publishable === undefined) return events;
  const { key_id, publishable } = identity;
  const { allowed_event_names, external_customer_id } = publishable;
  const details: ErrorDetail[] = [];
  const named = events.map((event, index) => {
    const at = placeOf(format, index);
    const problem = (path: string, message: string): void =>
      void details.push({ path, code: 'not_allowed', message });
    if (allowed_event_names?.includes(event.event_name) === false)
      problem(at.event_name, `this key sends only: ${allowed_event_names.join(', ')}`);
    if (external_customer_id !== null && event.external_customer_id !== external_customer_id)
      problem(at.external_customer_id, `this key sends events of "${external_customer_id}" only`);
    if (external_customer_id !== null && event.customer_id !== '')
      problem(
        at.customer_id,
        'this key sends events of one external_customer_id only: omit customer_id',
      );
    const event_id = event.event_id.startsWith(`${key_id}:`)
      ? event.event_id
      : `${key_id}:${event.event_id}`;
    if (isLongerThan(event_id, EVENT_ID_LENGTH_MAX))
      problem(at.event_id, `has more than ${EVENT_ID_LENGTH_MAX} characters with the key's id`);
    return { ...event, event_id };
  });
  if (details.length > 0)
    throw new BillingError('invalid', 'validation_error', 'Request validation failed', details);
  return named;
}

/** Paths of an event's fields as the client wrote them. */
function placeOf(format: EventFormat, index: number) {
  const isCloudEvent = format === 'cloudevent' || format === 'cloudevents';
  const isSingle = format === 'event' || format === 'cloudevent';
  const below = isSingle ? '' : format === 'events' ? `events[${index}].` : `[${index}].`;
  return {
    event_id: below + (isCloudEvent ? 'id' : 'event_id'),
    event_name: below + (isCloudEvent ? 'type' : 'event_name'),
    external_customer_id: below + (isCloudEvent ? 'subject' : 'external_customer_id'),
    customer_id: `${below}customer_id`,
  };
}
