import { clockTimeAt } from '../../../domain/time/clock-times.ts';

const TIMES = [
  { real_from: '2026-05-01T10:00:00.000Z', now: '2024-01-01T00:00:00.000Z' },
  { real_from: '2026-05-01T11:00:00.000Z', now: '2024-02-01T00:00:00.000Z' },
];

test.each([
  ['before the clock was created', '2026-04-30T00:00:00.000Z', '2024-01-01T00:00:00.000Z'],
  ['at its creation', '2026-05-01T10:00:00.000Z', '2024-01-01T00:00:00.000Z'],
  ['until an advance ends', '2026-05-01T10:59:59.999Z', '2024-01-01T00:00:00.000Z'],
  ['when it has ended', '2026-05-01T11:00:00.000Z', '2024-02-01T00:00:00.000Z'],
  ['long after', '2027-01-01T00:00:00.000Z', '2024-02-01T00:00:00.000Z'],
])('the time of a test clock %s (billing 22.5)', (_, real, expected) => {
  expect(clockTimeAt(TIMES, real)).toBe(expected);
});
