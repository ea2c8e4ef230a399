import { commonPauses, type PausedTime } from '../../../domain/time/paused-cells.ts';

/** Days of January: `3-7`, or `3-` for a pause that lasts. */
const pauses = (text: string): PausedTime[] =>
  text
    .split(' ')
    .filter((part) => part !== '')
    .map((part) => {
      const [start, end] = part.split('-').map((day) => (day === '' ? null : instant(day)));
      return { start: start!, end: end! };
    });
const instant = (day: string) => `2026-01-${day.padStart(2, '0')}T00:00:00.000Z`;

describe('times in which all of several subscriptions were paused', () => {
  test.each([
    ['one subscription', ['3-7 10-12'], '3-7 10-12'],
    ['one that was never paused', ['3-7', ''], ''],
    ['overlapping', ['3-7', '5-9'], '5-7'],
    ['one after the other', ['3-7', '7-9'], ''],
    ['one inside of several', ['1-30', '3-7 10-12'], '3-7 10-12'],
    ['both last', ['3-', '5-'], '5-'],
    ['one lasts', ['3-', '1-5 8-9'], '3-5 8-9'],
    ['three', ['1-9', '2-8', '7-20'], '7-8'],
    ['no subscription', [], ''],
  ])('%s', (_, each, common) => {
    expect(commonPauses(each.map(pauses))).toEqual(pauses(common));
  });
});
