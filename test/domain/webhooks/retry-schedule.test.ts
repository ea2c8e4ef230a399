import fc from 'fast-check';
import { nextAttemptMs } from '../../../domain/webhooks/retry-schedule.ts';

const HOUR = 3_600_000;

describe('waits between attempts', () => {
  test('are twelve attempts over about four days', () => {
    const waits = Array.from({ length: 12 }, (_, index) => nextAttemptMs(index + 1, 0.5, null));
    expect(waits).toEqual([
      5_000, 60_000, 300_000, 1_800_000, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR,
      24 * HOUR, 24 * HOUR, null,
    ]); // prettier-ignore
  });

  test('differ by at most 10%, and follow the receiver for at most an hour', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 11 }),
        fc.double({ min: 0, max: 0.999_999, noNaN: true }),
        fc.option(fc.integer({ min: 1, max: 10 * HOUR })),
        (attempts, spread, wish) => {
          const wait = nextAttemptMs(attempts, spread, wish)!;
          const middle = nextAttemptMs(attempts, 0.5, null)!;
          expect(wait).toBeGreaterThanOrEqual(Math.floor(middle * 0.9));
          expect(wait).toBeLessThanOrEqual(
            Math.max(Math.ceil(middle * 1.1), Math.min(wish ?? 0, HOUR)),
          );
          expect(wait).toBeGreaterThanOrEqual(Math.min(wish ?? 0, HOUR));
        },
      ),
    );
  });
});
