import { invalidField } from '../errors.ts';
import type { BillingCycle } from '../time/billing-grid.ts';
import { epochMs, type Instant } from '../time/instant.ts';

/** Refuses a given anchor with the calendar cycle, which has its own anchor (billing 1.2). */
export function validateAnchor(cycle: BillingCycle, anchor: Instant | null): void {
  if (anchor !== null && cycle === 'calendar') {
    throw invalidField('billing_anchor', 'is for the billing cycle anniversary');
  }
}

/** Refuses an end date on or before the start: nothing to bill (billing 10.1). */
export function validateDates(start: Instant, end: Instant | null): void {
  if (end !== null && epochMs(end) <= epochMs(start)) {
    throw invalidField('end_date', 'must be after start_date');
  }
}
