import { crc32 } from 'node:zlib';
import { recordCrc } from '../../platform/event-log/record-crc.ts';
import { encodeEvents } from '../../schemas/events/usage-event.ts';
import { usageEvent } from '../support/metering-world.ts';

describe('what tells one record of the log from another', () => {
  const record = (id: string) => encodeEvents([usageEvent({ event_id: id })]);

  test('records of other events differ, though the CRC-32 of a whole record is always the same', () => {
    expect(crc32(record('a'))).toBe(crc32(record('b')));
    expect(recordCrc(record('a'))).not.toBe(recordCrc(record('b')));
    expect(recordCrc(record('a'))).toBe(recordCrc(record('a')));
  });

  test.each(['', 'abc', 'abcd'])('short bytes count whole: %j', (text) =>
    expect(recordCrc(Buffer.from(text))).toBe(crc32(text)),
  );
});
