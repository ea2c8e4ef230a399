import { decimal } from '../../../domain/money.ts';
import { validateAnchor, validateDates } from '../../../domain/subscription/create-rules.ts';
import { waitsForPayment } from '../../../domain/subscription/pay-first.ts';
import { refusalText } from '../../support/refusal.ts';

const day = (number: number) => `2026-01-0${number}T00:00:00.000Z`;

describe('an anchor of one’s own (billing 2.1)', () => {
  test.each`
    cycle            | anchor
    ${'anniversary'} | ${null}
    ${'anniversary'} | ${day(1)}
    ${'calendar'}    | ${null}
  `('$cycle with $anchor', ({ cycle, anchor }) => {
    expect(() => validateAnchor(cycle, anchor)).not.toThrow();
  });
  test('not with the calendar', () => {
    expect(refusalText(() => validateAnchor('calendar', day(1)))).toBe(
      'invalid validation_error billing_anchor',
    );
  });
});

describe('dates (billing 10.1)', () => {
  test.each([null, day(2)])('from the first to %s', (end) => {
    expect(() => validateDates(day(1), end)).not.toThrow();
  });
  test.each([day(1), '2025-12-31T23:59:59.999Z'])('not to %s', (end) => {
    expect(refusalText(() => validateDates(day(1), end))).toBe('invalid validation_error end_date');
  });
});

describe('pay first (billing 14.1, 15)', () => {
  test.each`
    checkout | due       | waits
    ${true}  | ${'0.01'} | ${true}
    ${true}  | ${'0'}    | ${false}
    ${true}  | ${'-5'}   | ${false}
    ${false} | ${'5'}    | ${false}
  `('checkout $checkout, $due due: waits $waits', ({ checkout, due, waits }) => {
    expect(waitsForPayment(checkout, decimal(due))).toBe(waits);
  });
});
