import type { ChargedLine } from '../../../domain/subscription/charges.ts';
import { chargesAroundPauses } from '../../../domain/subscription/paused-time.ts';
import { day } from '../../support/day.ts';

const support = {
  id: 'support',
  price_type: 'FIXED',
  invoice_cadence: 'ARREAR',
  billing_period: 'MONTHLY',
  billing_period_count: 1,
  start_date: day('2025-01-01'),
  end_date: null,
} as ChargedLine;

/** The cell of the fee in a period that was five days longer by a pause, of a subscription from `start` on. */
function cellOf(start: string, from: string, to: string) {
  const schedule = {
    start_date: day(start),
    end_date: null,
    billing_anchor: day(to),
    billing_cycle: 'anniversary' as const,
    billing_period: 'MONTHLY' as const,
    billing_period_count: 1,
    customer_timezone: 'UTC',
  };
  const pauseStart = new Date(Date.parse(day(from)) + 10 * 86_400_000).toISOString();
  const pauseEnd = new Date(Date.parse(day(from)) + 15 * 86_400_000).toISOString();
  const scope = { closing: { start: day(from), end: day(to) }, opening: null };
  const pauses = [{ start: pauseStart, end: pauseEnd }];
  return chargesAroundPauses(schedule, [support], scope, pauses).map(({ cell }) => cell);
}

test.each([
  ['2025-01-31', '2025-08-31', '2025-10-05'],
  ['2025-01-31', '2025-02-28', '2025-04-05'],
  ['2025-01-31', '2025-01-31', '2025-03-05'],
  ['2025-01-30', '2025-02-28', '2025-04-04'],
  ['2025-01-29', '2025-04-29', '2025-06-03'],
  ['2025-01-01', '2025-04-01', '2025-05-06'],
])(
  'a fee in arrears is whole in a paused period, on every day of the month: from %s, %s to %s (billing 12.4)',
  (start, from, to) => {
    const [cell, ...others] = cellOf(start, from, to);
    expect(others).toEqual([]);
    expect(cell).toMatchObject({
      reference: { start: day(from), end: day(to) },
      service: { start: day(from), end: day(to) },
    });
  },
);
