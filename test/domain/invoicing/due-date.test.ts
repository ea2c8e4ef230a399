import { dueDate, paymentTermDays } from '../../../domain/invoicing/due-date.ts';
import { refusalText } from '../../support/refusal.ts';

describe('payment terms (billing 17.5)', () => {
  test.each`
    terms         | days
    ${'0 NET'}    | ${0}
    ${'1 NET'}    | ${1}
    ${'15 NET'}   | ${15}
    ${'30 net'}   | ${30}
    ${' 90 NET '} | ${90}
    ${'007 NET'}  | ${7}
    ${'3650 NET'} | ${3650}
  `('"$terms" is $days days', ({ terms, days }) => {
    expect(paymentTermDays(terms)).toBe(days);
  });

  test.each([
    '',
    'NET 30',
    '30',
    'NET',
    '-1 NET',
    '1.5 NET',
    '30NET',
    '3651 NET',
    '99999 NET',
    '30 NETT',
  ])('"%s" is refused', (terms) => {
    expect(refusalText(() => paymentTermDays(terms))).toBe(
      'invalid validation_error payment_terms',
    );
  });
});

describe('the due date counts from the issue (billing 17.5)', () => {
  test.each`
    issued                        | terms       | fallback | zone                  | due
    ${'2026-01-01T00:00:00.000Z'} | ${'15 NET'} | ${1}     | ${'UTC'}              | ${'2026-01-16T00:00:00.000Z'}
    ${'2026-01-01T10:20:30.456Z'} | ${null}     | ${1}     | ${'UTC'}              | ${'2026-01-02T10:20:30.456Z'}
    ${'2026-01-01T10:20:30.456Z'} | ${null}     | ${0}     | ${''}                 | ${'2026-01-01T10:20:30.456Z'}
    ${'2026-01-31T12:00:00.000Z'} | ${'30 NET'} | ${1}     | ${'UTC'}              | ${'2026-03-02T12:00:00.000Z'}
    ${'2026-03-07T17:00:00.000Z'} | ${'1 NET'}  | ${9}     | ${'America/New_York'} | ${'2026-03-08T16:00:00.000Z'}
    ${'2026-10-31T16:00:00.000Z'} | ${'1 NET'}  | ${9}     | ${'America/New_York'} | ${'2026-11-01T17:00:00.000Z'}
    ${'2028-02-28T00:00:00.000Z'} | ${'1 NET'}  | ${9}     | ${'Asia/Kolkata'}     | ${'2028-02-29T00:00:00.000Z'}
  `('$issued, $terms in "$zone": $due', ({ issued, terms, fallback, zone, due }) => {
    expect(dueDate(issued, terms, fallback, zone)).toBe(due);
  });

  test.each([-1, 1.5, Number.NaN])('a default of %s days is a bug', (days) => {
    expect(() => dueDate('2026-01-01T00:00:00.000Z', null, days, 'UTC')).toThrow('due date days');
  });
});
