import { timeSteps, valueLabels } from '../../web/ui/chart-steps.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;

/** Labels of an axis stand no closer than the values that they are about. */
describe('distances between labels of a chart', () => {
  test.each([
    ['hours', ['2026-11-01T00:00:00Z', '2026-11-01T01:00:00Z'], 60],
    ['days', ['2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z'], DAY],
    ['days, one of which has 23 hours', ['2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'], DAY],
    ['days with gaps', ['2026-11-01T00:00:00Z', '2026-11-05T00:00:00Z'], DAY],
    ['months', ['2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z'], 30 * DAY],
    ['a single time', ['2026-11-01T00:00:00Z'], 60],
  ])('%s', (_, times, shortest) => {
    expect(Math.min(...timeSteps(times))).toBe(shortest);
  });

  test.each([
    [
      'the last label is above the largest value',
      ['1', '520000'],
      [0, 200_000, 400_000, 600_000],
      0,
    ],
    ['or at it', ['30', null], [0, 10, 20, 30], 0],
    ['whole values have whole labels', ['2', '1'], [0, 1, 2], 0],
    ['a fraction has labels with decimals', ['0.02', '0.01'], [0, 0.005, 0.01, 0.015, 0.02], 3],
    ['sums of a step are exact', ['0.3', '0'], [0, 0.1, 0.2, 0.3], 1],
    ['below zero', ['-7.5', '2.5'], [-8, -6, -4, -2, 0, 2, 4], 0],
    ['below zero only', ['-30'], [-30, -20, -10, 0], 0],
    ['nothing', [null, '0'], [0, 1], 0],
    ['no value', [], [0, 1], 0],
  ])('values: %s', (_, values, at, decimals) => {
    expect(valueLabels(values)).toEqual({ at, decimals });
  });
});
