import {
  compareLength,
  dividesEvenly,
  effectiveMonths,
  equallyLong,
  sameCadence,
  type BillingPeriod,
  type Cadence,
} from '../../../domain/pricing/cadence.ts';

/** `QUARTERLY x2`; the count is 1 when it is left out. */
const cadence = (text: string): Cadence => {
  const [unit, count = 'x1'] = text.split(' ');
  return { billing_period: unit as BillingPeriod, billing_period_count: Number(count.slice(1)) };
};

describe('months of a cadence (1.1)', () => {
  test.each`
    text              | months
    ${'MONTHLY'}      | ${1}
    ${'MONTHLY x7'}   | ${7}
    ${'QUARTERLY'}    | ${3}
    ${'QUARTERLY x2'} | ${6}
    ${'HALF_YEARLY'}  | ${6}
    ${'ANNUAL'}       | ${12}
    ${'ANNUAL x2'}    | ${24}
    ${'WEEKLY'}       | ${null}
    ${'DAILY x30'}    | ${null}
    ${'ONETIME'}      | ${null}
  `('$text: $months', ({ text, months }) => {
    expect(effectiveMonths(cadence(text))).toBe(months);
  });
});

describe('a price on a subscription: the same or months that divide (3.2)', () => {
  test.each`
    price             | subscription      | divides  | equal
    ${'MONTHLY'}      | ${'QUARTERLY'}    | ${true}  | ${false}
    ${'MONTHLY x3'}   | ${'QUARTERLY'}    | ${true}  | ${true}
    ${'QUARTERLY'}    | ${'MONTHLY x3'}   | ${true}  | ${true}
    ${'MONTHLY x2'}   | ${'QUARTERLY'}    | ${false} | ${false}
    ${'QUARTERLY'}    | ${'ANNUAL'}       | ${true}  | ${false}
    ${'HALF_YEARLY'}  | ${'MONTHLY x12'}  | ${true}  | ${false}
    ${'QUARTERLY'}    | ${'MONTHLY'}      | ${false} | ${false}
    ${'ANNUAL'}       | ${'ANNUAL'}       | ${true}  | ${true}
    ${'WEEKLY'}       | ${'WEEKLY x2'}    | ${false} | ${false}
    ${'WEEKLY x2'}    | ${'WEEKLY x2'}    | ${true}  | ${true}
    ${'WEEKLY'}       | ${'MONTHLY'}      | ${false} | ${false}
    ${'MONTHLY'}      | ${'WEEKLY'}       | ${false} | ${false}
    ${'DAILY'}        | ${'MONTHLY'}      | ${false} | ${false}
    ${'DAILY x7'}     | ${'WEEKLY'}       | ${false} | ${false}
    ${'MONTHLY x100'} | ${'MONTHLY x200'} | ${true}  | ${false}
  `('$price on $subscription: $divides', ({ price, subscription, divides, equal }) => {
    expect(dividesEvenly(cadence(price), cadence(subscription))).toBe(divides);
    expect(equallyLong(cadence(price), cadence(subscription))).toBe(equal);
    expect(equallyLong(cadence(subscription), cadence(price))).toBe(equal);
  });

  test('the same is the same unit and the same count', () => {
    expect(sameCadence(cadence('MONTHLY x3'), cadence('MONTHLY x3'))).toBe(true);
    expect(sameCadence(cadence('MONTHLY x3'), cadence('QUARTERLY'))).toBe(false);
    expect(sameCadence(cadence('MONTHLY x3'), cadence('MONTHLY x2'))).toBe(false);
  });
});

describe('which of two is longer', () => {
  const ladder = [
    'DAILY', 'DAILY x6', 'WEEKLY', 'DAILY x8', 'WEEKLY x4', 'MONTHLY', 'DAILY x31', 'WEEKLY x5', 'MONTHLY x2',
    'QUARTERLY', 'HALF_YEARLY', 'WEEKLY x52', 'ANNUAL', 'WEEKLY x53', 'ANNUAL x2',
  ]; // prettier-ignore
  test.each(ladder.slice(1).map((longer, index) => [ladder[index]!, longer]))(
    '%s is shorter than %s',
    (shorter, longer) => {
      expect(compareLength(cadence(shorter), cadence(longer))).toBeLessThan(0);
      expect(compareLength(cadence(longer), cadence(shorter))).toBeGreaterThan(0);
    },
  );

  test.each([
    ['MONTHLY x3', 'QUARTERLY'],
    ['HALF_YEARLY x2', 'ANNUAL'],
    ['DAILY x7', 'DAILY x7'],
    ['DAILY x7', 'WEEKLY'],
  ])('%s is as long as %s', (left, right) => {
    expect(compareLength(cadence(left), cadence(right))).toBe(0);
  });
});
