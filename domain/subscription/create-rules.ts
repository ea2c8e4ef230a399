import { invalidField } from '../errors.ts';
import type { BillingCycle } from '../time/billing-grid.ts';
import { epochMs, type Instant } from '../time/instant.ts';

/** An anchor of one's own goes with the anniversary cycle; the calendar has its own (billing 1.2, billing 2.1). */
export function validateAnchor(cycle: BillingCycle, anchor: Instant | null): void {
  if (anchor !== null && cycle === 'calendar') {
    throw invalidField('billing_anchor', 'is for the billing cycle anniversary');
  }
}

/** Refuses an end that leaves nothing to bill (billing 10.1). */
export function validateDates(start: Instant, end: Instant | null): void {
  if (end !== null && epochMs(end) <= epochMs(start)) {
    throw invalidField('end_date', 'must be after start_date');
  }
}
