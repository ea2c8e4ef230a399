import fc from 'fast-check';
import { parseEvents } from '../../../ingest/parse-events.ts';
import { IngestEventBody, IngestEventsBody } from '../../../schemas/events/event-bodies.ts';
import { property } from '../../support/properties.ts';
import { NOW_MS, startIngest, type TestIngest } from './start-ingest.ts';

const DEEP = process.env['DEEP'] === '1';

const oddText = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    'x',
    'api.call',
    'a'.repeat(256),
    'b'.repeat(1001),
    '😀'.repeat(255),
    '😀'.repeat(256),
    '😀'.repeat(1000),
    'a\u0000',
    '\ud800',
    'ü€😀',
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
);
const oddTime = fc.constantFrom(
  '2026-01-15T10:00:00Z', '2026-01-15T10:00:00.5+05:30', '1960-01-01T00:00:00Z', '2026-01-15', 'never', '',
); // prettier-ignore
const oddProperties = fc.oneof(
  fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 6 }),
  fc.constant(null),
  fc.constant('text'),
  fc.constant([1]),
);
const oddValue = fc.oneof({ weight: 4, arbitrary: oddText }, fc.jsonValue({ maxDepth: 1 }));
const goodEvent = fc.record(
  {
    event_name: fc.constantFrom('api.call', ' padded '),
    external_customer_id: fc.constantFrom('acme', 'ü'),
    event_id: fc.string({ unit: 'grapheme-ascii', maxLength: 30 }),
    timestamp: fc.constantFrom('2026-01-15T10:00:00Z', null),
    properties: fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.integer(), { maxKeys: 4 }),
  },
  { requiredKeys: ['event_name', 'external_customer_id'] },
);
const oddEvent = fc.record(
  {
    event_name: oddValue,
    external_customer_id: oddValue,
    customer_id: oddValue,
    event_id: oddValue,
    source: oddValue,
    timestamp: fc.oneof(oddTime, oddValue),
    properties: oddProperties,
    other: fc.jsonValue({ maxDepth: 2 }),
  },
  { requiredKeys: [] },
);
const event = fc.oneof({ weight: 3, arbitrary: goodEvent }, oddEvent, fc.jsonValue());
const body = fc.oneof(
  { weight: 3, arbitrary: fc.record({ events: fc.array(event, { maxLength: 5 }) }) },
  event,
  fc.jsonValue(),
);

describe('the hand-written check and the schema of the documentation', () => {
  const context = {
    tenant_id: 't',
    environment_id: 'e',
    now: NOW_MS,
    newEventId: () => 'assigned',
  };
  const isAccepted = (text: string, format: 'event' | 'events') => {
    try {
      parseEvents(Buffer.from(text), format, context);
      return true;
    } catch {
      return false;
    }
  };
  // What only the text shows (digits, duplicate keys) has tests of its own.
  const digitsFit = (text: string) => !/[\d.]{16}|\d[eE]/.test(text);

  property(
    'accept and refuse the same single events',
    fc.property(event, (value) => {
      const text = JSON.stringify(value);
      fc.pre(digitsFit(text));
      expect([text, isAccepted(text, 'event')]).toEqual([
        text,
        IngestEventBody.safeParse(JSON.parse(text)).success,
      ]);
    }),
    { quick: 5_000, deep: 200_000 },
  );

  property(
    'accept and refuse the same bulk calls',
    fc.property(body, (value) => {
      const text = JSON.stringify(value);
      fc.pre(digitsFit(text));
      expect([text, isAccepted(text, 'events')]).toEqual([
        text,
        IngestEventsBody.safeParse(JSON.parse(text)).success,
      ]);
    }),
    { quick: 5_000, deep: 200_000 },
  );
});

describe('any request', () => {
  let ingest: TestIngest;
  beforeAll(async () => {
    ingest = await startIngest();
  });
  afterAll(() => ingest.close());

  const bytes = fc.oneof(
    { weight: 4, arbitrary: body.map((value) => Buffer.from(JSON.stringify(value))) },
    fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array)),
  );
  const headers = fc.record({
    'content-type': fc.constantFrom(
      'application/json', 'application/json; charset=utf-8', 'application/cloudevents+json',
      'application/cloudevents-batch+json', 'application/x-ndjson', 'text/plain', 'application/xml',
    ), // prettier-ignore
    'content-encoding': fc.constantFrom('identity', 'identity', 'identity', 'gzip', 'br', 'x'),
    prefer: fc.constantFrom('', '', 'handling=strict'),
  });

  test(
    'is accepted whole or refused whole, with a 4xx that says why',
    async () => {
      let stored = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom('/v1/events', '/v1/events/bulk'),
          bytes,
          headers,
          async (path, payload, sent) => {
            const answer = await ingest.post(path, payload, sent);
            const now = (await ingest.stored()).length;
            if (answer.status === 202) {
              expect(now).toBeGreaterThan(stored);
            } else {
              expect(answer.status).toBe(400);
              expect(answer.body.details.length).toBeGreaterThan(0);
              expect(now).toBe(stored);
            }
            stored = now;
          },
        ),
        { numRuns: DEEP ? 20_000 : 300, verbose: 1 },
      );
      expect(stored).toBeGreaterThan(0);
    },
    DEEP ? 3_600_000 : 900_000,
  );
});
