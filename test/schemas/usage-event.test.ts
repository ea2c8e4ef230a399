import fc from 'fast-check';
import {
  decodeEvents,
  encodeEvents,
  UndecodableRecord,
  type UsageEvent,
} from '../../schemas/events/usage-event.ts';

const time = fc.integer({ min: 0, max: 4_102_444_800_000 });
const text = fc.string({ unit: 'grapheme', maxLength: 80 });
const usageEvent: fc.Arbitrary<UsageEvent> = fc.record({
  kind: fc.constantFrom('usage', 'void'),
  tenant_id: fc.constantFrom('tenant_1', 'tenant_2', 'a', 'ab'),
  environment_id: fc.constantFrom('env_1', 'b', 'bb'),
  event_id: text,
  event_name: text,
  external_customer_id: text,
  customer_id: text,
  timestamp: time,
  source: text,
  properties: fc.json(),
  ingested_at: time,
});

const sample: UsageEvent = {
  kind: 'usage',
  tenant_id: 'tenant_1',
  environment_id: 'env_1',
  event_id: 'event_1',
  event_name: 'api.call',
  external_customer_id: 'acme',
  customer_id: '',
  timestamp: 1_795_000_000_123,
  source: '',
  properties: '{"tokens":12345678901234.5,"path":"/ü/€/😀"}',
  ingested_at: 1_795_000_000_456,
};

describe('a log record carries its events', () => {
  test('what was encoded is decoded: scopes together, each in its order', () => {
    fc.assert(
      fc.property(fc.array(usageEvent, { maxLength: 60 }), (events) => {
        const scopeOf = (event: UsageEvent) =>
          JSON.stringify([event.tenant_id, event.environment_id]);
        const scopes = [...new Set(events.map(scopeOf))];
        const grouped = scopes.flatMap((scope) => events.filter((e) => scopeOf(e) === scope));
        expect(decodeEvents(encodeEvents(events))).toEqual(grouped);
      }),
      { verbose: 1 },
    );
  });

  test('a record larger than the first buffer', () => {
    const events = Array.from({ length: 3 }, (_, index) => ({
      ...sample,
      event_id: `event_${index}`,
      properties: JSON.stringify({ text: 'x'.repeat(400_000) }),
    }));
    expect(decodeEvents(encodeEvents(events))).toEqual(events);
  });

  test('a large record is deflated, a small one is plain Avro', () => {
    const events = Array.from({ length: 200 }, (_, n) => ({ ...sample, event_id: `event_${n}` }));
    const record = encodeEvents(events);
    expect(record.subarray(0, 2).toString('hex')).toBe('c302');
    expect(record.length).toBeLessThan(200 * 30);
    expect(decodeEvents(record)).toEqual(events);
    expect(encodeEvents([sample]).subarray(0, 2).toString('hex')).toBe('c301');
  });

  test('records share no memory', () => {
    const first = encodeEvents([sample]);
    const copy = Buffer.from(first);
    encodeEvents([{ ...sample, event_id: 'another' }]);
    expect(first.equals(copy)).toBe(true);
  });
});

describe('the format never changes without a new schema', () => {
  test('marker and fingerprint of version 1', () => {
    expect(encodeEvents([]).subarray(0, 10).toString('hex')).toBe('c3015fb7ff403cdc7fbb');
  });

  test('the bytes of one event', () => {
    expect(encodeEvents([sample]).subarray(10).toString('hex')).toBe(
      '021074656e616e745f310a656e765f3102000e6576656e745f31106170692e63616c6c0861636d6500f6f9b2e5bd6800627b22746f6b656e73223a31323334353637383930313233342e352c2270617468223a222fc3bc2fe282ac2ff09f9880227d90ffb2e5bd680000d5bf3936',
    );
  });
});

describe('what cannot be decoded is refused, never misread', () => {
  const record = encodeEvents([sample, { ...sample, event_id: 'event_2' }]);
  const large = encodeEvents(Array.from({ length: 100 }, () => sample));

  test.each([0, 1, 9, 13])('%i bytes', (length) => {
    expect(() => decodeEvents(record.subarray(0, length))).toThrow(UndecodableRecord);
  });

  test('another schema', () => {
    const other = Buffer.from(record);
    other[5]! ^= 1;
    expect(() => decodeEvents(other)).toThrow(/unknown schema/);
  });

  test.each([
    ['plain', record],
    ['deflated', large],
  ])('any byte damaged, any tail lost: %s', (_kind, record) => {
    for (let at = 0; at < record.length; at++) {
      const damaged = Buffer.from(record);
      damaged[at]! ^= 0xff;
      expect(() => decodeEvents(damaged)).toThrow(UndecodableRecord);
      expect(() => decodeEvents(record.subarray(0, at))).toThrow(UndecodableRecord);
    }
  });
});
