import { CLIENT_WORDS } from '../domain/client-words.ts';
import { DETAILS_MAX, type ErrorDetail } from '../domain/errors.ts';
import { nearMiss } from '../domain/near-miss.ts';
import {
  EVENT_ID_LENGTH_MAX,
  EVENT_TEXT_LENGTH_MAX,
  EVENTS_PER_CALL_MAX,
  IngestEventBody,
} from '../schemas/events/event-bodies.ts';
import type { TimeOfCustomer } from '../postgres/tables/test-clocks.ts';
import type { UsageEvent } from '../schemas/events/usage-event.ts';
import { JsonScanner } from './json-scanner.ts';
import { parseTimestamp } from '../schemas/events/timestamp.ts';
import { isLongerThan } from '../schemas/text-length.ts';

/** `native` is our own shape; `cloudevents` is CloudEvents 1.0 in structured mode. */
export type EventShape = 'native' | 'cloudevents';

export interface ReadContext {
  readonly tenant_id: string;
  readonly environment_id: string;
  /** Arrival time in epoch milliseconds; also the timestamp of an event that has none. */
  readonly now: number;
  /** Times of customers with test clocks, where the environment has such: they replace `now` for timestamps. */
  readonly timeOf?: TimeOfCustomer | null;
  /** Creates the id of an event that has none. */
  newEventId(): string;
}

export const PROPERTIES_LENGTH_MAX = 1024 * 1024;
export const FUTURE_MS_MAX = 24 * 60 * 60 * 1000;

const IGNORED_NAMED_MAX = 20;

/**
 * Reads events from JSON in one pass, without building their properties. Collects every problem under the
 * path that the client wrote, so that a caller can fix all of them at once. Throws `MalformedJson` if the
 * text is not JSON.
 */
export class EventReader {
  readonly events: UsageEvent[] = [];
  /** The first problems; further ones are only counted. */
  readonly problems: ErrorDetail[] = [];
  problemCount = 0;
  /** Paths of keys that events do not have. */
  readonly ignored: string[] = [];
  /** Whether a value had another type than its field, or could not be read. */
  misshapen = false;
  readonly #context: ReadContext;
  readonly #shape: EventShape;
  readonly #compared = new Map<string, string | null>();

  constructor(context: ReadContext, shape: EventShape) {
    this.#context = context;
    this.#shape = shape;
  }

  /** The whole body is one event. */
  single(body: Buffer): void {
    const scanner = new JsonScanner(body);
    this.#event(scanner, '');
    scanner.end();
  }

  /** `{"events": […]}`. */
  bulk(body: Buffer): void {
    const scanner = new JsonScanner(body);
    if (!scanner.isObject()) {
      scanner.skip();
      this.#wrongType('', 'must be an object with the list `events`');
    } else {
      let lists = 0;
      scanner.object((key) => {
        if (key !== 'events') {
          this.#ignore('', key, BULK_KEYS);
          scanner.skip();
        } else if (++lists > 1) {
          this.#problem('events', 'duplicate_key', 'is a duplicate key');
          scanner.skip();
        } else this.#list(scanner, 'events');
      });
      if (lists === 0) this.#problem('events', 'required', 'is required');
    }
    scanner.end();
  }

  /** `[…]`. */
  array(body: Buffer): void {
    const scanner = new JsonScanner(body);
    this.#list(scanner, '');
    scanner.end();
  }

  /** One event per line; empty lines are skipped. */
  lines(body: Buffer): void {
    let count = 0;
    for (let start = 0; start < body.length;) {
      const newline = body.indexOf(0x0a, start);
      const end = newline < 0 ? body.length : newline;
      const scanner = new JsonScanner(body.subarray(start, end));
      start = end + 1;
      if (scanner.peek() === -1) continue;
      count++;
      if (this.#isFull()) scanner.skip();
      else this.#event(scanner, `[${count - 1}]`);
      scanner.end();
    }
    this.#checkCount('', count);
  }

  #list(scanner: JsonScanner, path: string): void {
    if (scanner.takeNull()) return this.#problem(path, 'required', 'is required');
    if (!scanner.isArray()) {
      scanner.skip();
      return this.#wrongType(path, 'must be a list');
    }
    let count = 0;
    scanner.array((index) => {
      count++;
      if (this.#isFull()) scanner.skip();
      else this.#event(scanner, `${path}[${index}]`);
    });
    this.#checkCount(path, count);
  }

  #checkCount(path: string, count: number): void {
    if (count === 0) this.#problem(path, 'too_small', 'has no events');
    if (count > EVENTS_PER_CALL_MAX)
      this.#problem(path, 'too_big', `has ${count} events; a call takes ${EVENTS_PER_CALL_MAX}`);
  }

  #isFull(): boolean {
    return this.events.length > EVENTS_PER_CALL_MAX;
  }

  #event(scanner: JsonScanner, path: string): void {
    const problemsBefore = this.problemCount;
    if (!scanner.isObject()) {
      scanner.skip();
      this.#wrongType(path, 'must be an object');
      return;
    }
    const { now } = this.#context;
    let eventId = '';
    let eventName = '';
    let externalCustomerId = '';
    let customerId = '';
    let source = '';
    let timestamp: number | null = null;
    let timestampKey = 'timestamp';
    let properties = '{}';
    let specVersion = '';
    let seen = 0;
    const isNative = this.#shape === 'native';

    for (let key = scanner.firstKey(); key !== null; key = scanner.nextKey()) {
      const field = isNative ? nativeField(key) : cloudEventField(key);
      if (field === NOTHING) {
        this.#ignore(path, key, isNative ? NATIVE_KEYS : NO_KEYS);
        scanner.skip();
      } else if ((seen & field) !== 0) {
        this.#problem(under(path, key), 'duplicate_key', 'is a duplicate key');
        scanner.skip();
      } else if (!scanner.takeNull()) {
        switch (field) {
          case EVENT_NAME:
            eventName = this.#text(scanner, path, key, EVENT_TEXT_LENGTH_MAX).trim();
            break;
          case EXTERNAL_CUSTOMER_ID:
            externalCustomerId = this.#text(scanner, path, key, EVENT_TEXT_LENGTH_MAX);
            break;
          case EVENT_ID:
            eventId = this.#text(scanner, path, key, EVENT_ID_LENGTH_MAX);
            break;
          case CUSTOMER_ID:
            customerId = this.#text(scanner, path, key, EVENT_TEXT_LENGTH_MAX);
            break;
          case SOURCE:
            source = this.#text(scanner, path, key, EVENT_TEXT_LENGTH_MAX);
            break;
          case TIMESTAMP:
            timestamp = this.#time(scanner, path, key);
            timestampKey = key;
            break;
          case PROPERTIES:
            properties = this.#properties(scanner, path, key);
            break;
          case SPEC_VERSION:
            specVersion = this.#text(scanner, path, key, EVENT_TEXT_LENGTH_MAX);
            break;
          default:
            this.#problem(under(path, key), 'unsupported', 'send a JSON object in data instead');
            scanner.skip();
        }
      }
      seen |= field;
    }

    if (this.problemCount === problemsBefore) {
      if (eventName === '') this.#required(path, isNative ? 'event_name' : 'type');
      if (externalCustomerId === '')
        this.#required(path, isNative ? 'external_customer_id' : 'subject');
      if (!isNative) {
        if (eventId === '') this.#required(path, 'id');
        if (source === '') this.#required(path, 'source');
        if (specVersion !== '1.0')
          this.#problem(under(path, 'specversion'), 'invalid_value', 'must be "1.0"');
      }
    }
    const own = this.#context.timeOf?.(externalCustomerId) ?? now;
    if (timestamp !== null && timestamp > own + FUTURE_MS_MAX)
      this.#problem(under(path, timestampKey), 'too_big', 'is more than 24 hours in the future');
    this.events.push({
      kind: 'usage',
      tenant_id: this.#context.tenant_id,
      environment_id: this.#context.environment_id,
      event_id: eventId === '' ? this.#context.newEventId() : eventId,
      event_name: eventName,
      external_customer_id: externalCustomerId,
      customer_id: customerId,
      timestamp: timestamp ?? own,
      source,
      properties,
      ingested_at: now,
    });
  }

  #text(scanner: JsonScanner, path: string, key: string, lengthMax: number): string {
    if (!scanner.isString()) {
      scanner.skip();
      this.#wrongType(under(path, key), 'must be a string');
      return '';
    }
    const text = scanner.string();
    if (isLongerThan(text, lengthMax))
      this.#problem(under(path, key), 'too_big', `has more than ${lengthMax} characters`);
    else if (!scanner.lastStringWasPlain && !isStorable(text))
      this.#problem(
        under(path, key),
        'invalid_value',
        'has control characters, or half of a surrogate pair',
      );
    return text;
  }

  #time(scanner: JsonScanner, path: string, key: string): number {
    const { now } = this.#context;
    const time = scanner.isString() ? parseTimestamp(scanner.string()) : scanner.skip();
    if (typeof time !== 'number') {
      this.#wrongType(
        under(path, key),
        'must be an RFC 3339 time with a zone, for example 2026-01-31T09:30:00Z',
      );
      return now;
    }
    if (time < 0) this.#problem(under(path, key), 'too_small', 'lies before 1970');
    return time;
  }

  #properties(scanner: JsonScanner, path: string, key: string): string {
    if (!scanner.isObject()) {
      scanner.skip();
      this.#wrongType(under(path, key), 'must be an object');
      return '{}';
    }
    const text = scanner.propertiesText();
    const problem = scanner.propertiesProblem;
    if (problem !== null) {
      const at = problem.key === '' ? key : `${key}.${problem.key}`;
      this.#problem(under(path, at), problem.code, problem.message);
    }
    if (text.length > PROPERTIES_LENGTH_MAX)
      this.#problem(under(path, key), 'too_big', 'has more than 1 MiB of text');
    return text;
  }

  #required(path: string, key: string): void {
    this.#problem(under(path, key), 'required', 'is required');
  }

  #wrongType(path: string, message: string): void {
    this.misshapen = true;
    this.#problem(path, 'invalid_type', message);
  }

  #problem(path: string, code: string, message: string): void {
    this.problemCount++;
    if (this.problems.length < DETAILS_MAX)
      this.problems.push({ path: path === '' ? 'body' : path, code, message });
  }

  /** A misspelt key is a problem; any other unknown key is reported and ignored. */
  #ignore(path: string, key: string, siblings: readonly string[]): void {
    const meant = this.#meant(key, siblings);
    if (meant !== null)
      this.#problem(
        under(path, key),
        'unknown_field',
        `is not a field of an event; did you mean "${meant}"?`,
      );
    else if (this.ignored.length < IGNORED_NAMED_MAX) this.ignored.push(under(path, key));
  }

  /** Each unknown key is compared once per body: a thousand events usually have the same ones. */
  #meant(key: string, siblings: readonly string[]): string | null {
    const known = this.#compared.get(key);
    if (known !== undefined) return known;
    if (this.#compared.size >= COMPARED_MAX || CLIENT_WORDS.has(key)) return null;
    const meant = nearMiss(key, siblings);
    this.#compared.set(key, meant);
    return meant;
  }
}

/** A hostile body has any number of unknown keys, and each comparison takes time. */
const COMPARED_MAX = 1_000;
const BULK_KEYS = ['events'];
const NATIVE_KEYS = Object.keys(IngestEventBody.shape);
/** CloudEvents allows extension attributes of any name. */
const NO_KEYS: readonly string[] = [];

/** Fields as bits, so that one number records which are present. */
const NOTHING = 0;
const EVENT_ID = 1;
const EVENT_NAME = 2;
const EXTERNAL_CUSTOMER_ID = 4;
const CUSTOMER_ID = 8;
const SOURCE = 16;
const TIMESTAMP = 32;
const PROPERTIES = 64;
const SPEC_VERSION = 128;
const UNSUPPORTED = 256;

function nativeField(key: string): number {
  switch (key) {
    case 'event_name':
      return EVENT_NAME;
    case 'external_customer_id':
      return EXTERNAL_CUSTOMER_ID;
    case 'event_id':
      return EVENT_ID;
    case 'timestamp':
      return TIMESTAMP;
    case 'properties':
      return PROPERTIES;
    case 'source':
      return SOURCE;
    case 'customer_id':
      return CUSTOMER_ID;
    default:
      return NOTHING;
  }
}

/** CloudEvents name → ours: id, type, subject, time, source, data (api 2). */
function cloudEventField(key: string): number {
  switch (key) {
    case 'id':
      return EVENT_ID;
    case 'type':
      return EVENT_NAME;
    case 'subject':
      return EXTERNAL_CUSTOMER_ID;
    case 'time':
      return TIMESTAMP;
    case 'data':
      return PROPERTIES;
    case 'source':
      return SOURCE;
    case 'specversion':
      return SPEC_VERSION;
    case 'data_base64':
      return UNSUPPORTED;
    default:
      return NOTHING;
  }
}

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
// Under the u flag a pair is one character and does not match.
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Names and ids are keys in every store: text that a store would refuse or change is refused here. */
function isStorable(text: string): boolean {
  return !CONTROL.test(text) && !LONE_SURROGATE.test(text);
}

function under(path: string, key: string): string {
  const short = key.length > 200 ? `${key.slice(0, 200)}…` : key;
  return path === '' ? short : `${path}.${short}`;
}
