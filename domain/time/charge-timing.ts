import { epochMs, type Instant, type Period } from './instant.ts';

/**
 * Which invoice carries a charge (billing 3.1). An ADVANCE charge belongs to the period in
 * which its service starts, `[start, end)`. An ARREAR charge belongs to the period in which its service
 * ends, `(start, end]`: service that ends on a boundary is on the invoice for that boundary.
 */
export function isChargedIn(
  invoice_cadence: 'ADVANCE' | 'ARREAR',
  service: Period,
  period: Period,
): boolean {
  return invoice_cadence === 'ADVANCE'
    ? startsIn(service.start, period)
    : endsIn(service.end, period);
}

export type OneTimeTiming = 'current_advance' | 'next_advance' | 'current_arrear' | 'none';

/**
 * When a ONETIME charge is billed, relative to the closing period `current` and the next one. An ADVANCE
 * charge is billed in the period that contains its date. An ARREAR charge is billed on the invoice that
 * closes `(start, end]`. The subscription's first period also contains its own start.
 */
export function oneTimeTiming(
  charge: { readonly invoice_cadence: 'ADVANCE' | 'ARREAR'; readonly start_date: Instant },
  current: Period & { readonly is_first?: boolean },
  nextPeriodEnd: Instant,
): OneTimeTiming {
  const date = charge.start_date;
  const isChargedAt = (period: Period) =>
    isChargedIn(charge.invoice_cadence, { start: date, end: date }, period);
  if (charge.invoice_cadence === 'ARREAR') {
    const atFirstStart = current.is_first === true && epochMs(date) === epochMs(current.start);
    return atFirstStart || isChargedAt(current) ? 'current_arrear' : 'none';
  }
  if (isChargedAt(current)) return 'current_advance';
  return isChargedAt({ start: current.end, end: nextPeriodEnd }) ? 'next_advance' : 'none';
}

function startsIn(at: Instant, { start, end }: Period): boolean {
  const ms = epochMs(at);
  return ms >= epochMs(start) && ms < epochMs(end);
}

function endsIn(at: Instant, { start, end }: Period): boolean {
  const ms = epochMs(at);
  return ms > epochMs(start) && ms <= epochMs(end);
}
