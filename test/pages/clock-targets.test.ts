import { targetOf } from '../../web/pages/test-clocks/targets.ts';

test.each([
  ['2026-11-27T09:30:00.000Z', 'month', '2026-12-27T09:30:00.000Z'],
  ['2027-01-31T00:00:00.000Z', 'month', '2027-02-28T00:00:00.000Z'],
  ['2026-11-27T09:30:00.000Z', 'first', '2026-12-01T00:00:00.000Z'],
] as const)('a clock at %s goes a %s further to %s', (now, step, target) => {
  expect(targetOf(now, step, '')).toBe(target);
});
