import { isUtf8 } from 'node:buffer';
import { BillingError, type ErrorDetail } from '../domain/errors.ts';
import type { UsageEvent } from '../schemas/events/usage-event.ts';
import { EventReader, type ReadContext } from './event-reader.ts';
import { MalformedJson } from './json-scanner.ts';

/** How the events of a body are written. */
export type EventFormat = 'event' | 'events' | 'cloudevent' | 'cloudevents' | 'lines';

export interface ParsedEvents {
  /** At least one, at most 1,000, all complete: missing ids and times are filled in. */
  readonly events: UsageEvent[];
  /** Paths of keys that events do not have. */
  readonly ignored: readonly string[];
}

/**
 * The events of a body, or 400 `validation_error` with the first 100 invalid fields under the paths that the
 * client wrote, and the total number. Nothing of an invalid body is accepted (metering 2). The two messages
 * are those that existing clients know (as the reference answers).
 */
export function parseEvents(body: Buffer, format: EventFormat, context: ReadContext): ParsedEvents {
  if (!isUtf8(body)) throw invalid(MISSHAPEN, [malformed('The body is not UTF-8')]);
  const isCloudEvent = format === 'cloudevent' || format === 'cloudevents';
  const reader = new EventReader(context, isCloudEvent ? 'cloudevents' : 'native');
  try {
    read(reader, body, format);
  } catch (error) {
    if (error instanceof MalformedJson) throw invalid(MISSHAPEN, [malformed(error.message)]);
    throw error;
  }
  const { problems, problemCount } = reader;
  if (problems.length > 0) {
    const isSingle = format === 'event' || format === 'cloudevent';
    const message = reader.misshapen || isSingle ? MISSHAPEN : 'Request validation failed';
    throw invalid(message, problems, problemCount);
  }
  return { events: reader.events, ignored: reader.ignored };
}

function read(reader: EventReader, body: Buffer, format: EventFormat): void {
  switch (format) {
    case 'event':
    case 'cloudevent':
      return reader.single(body);
    case 'events':
      return reader.bulk(body);
    case 'cloudevents':
      return reader.array(body);
    case 'lines':
      return reader.lines(body);
    default:
      return format satisfies never;
  }
}

const MISSHAPEN = 'Invalid request payload';

const malformed = (message: string): ErrorDetail => ({
  path: 'body',
  code: 'malformed_json',
  message,
});

/** The message begins with the text that clients know and names the first field; the details name all. */
function invalid(
  message: string,
  details: readonly ErrorDetail[],
  errorCount: number = details.length,
): BillingError {
  const first = details[0]!;
  const more = errorCount === 1 ? '' : ` (and ${errorCount - 1} more)`;
  const text = `${message}: ${first.path}: ${first.message}${more}`;
  return new BillingError('invalid', 'validation_error', text, details, errorCount);
}
