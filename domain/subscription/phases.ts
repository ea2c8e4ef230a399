import { invalidField } from '../errors.ts';
import type { Instant } from '../time/instant.ts';

export interface PhaseWindow {
  readonly start_date: Instant;
  readonly end_date: Instant | null;
}

/**
 * Refuses phases that do not cover the subscription without a gap (billing 11): the first begins with it,
 * each next one where the one before ends, and the last ends with it.
 */
export function validatePhases(
  phases: readonly { readonly start_date: Instant; readonly end_date?: Instant | null }[],
  subscription: PhaseWindow,
): void {
  phases.forEach(({ start_date, end_date }, index) => {
    const path = `phases[${index}]`;
    const before = phases[index - 1];
    if (before === undefined && start_date !== subscription.start_date)
      throw invalidField(
        `${path}.start_date`,
        `must be the start of the subscription (${subscription.start_date})`,
      );
    if (before !== undefined && start_date !== before.end_date)
      throw invalidField(
        `${path}.start_date`,
        `must be the end of the phase before it (${before.end_date})`,
      );
    if (end_date && end_date <= start_date)
      throw invalidField(`${path}.end_date`, `must be after start_date (${start_date})`);
    if (!end_date && index < phases.length - 1)
      throw invalidField(`${path}.end_date`, 'is required, because another phase follows');
  });
  const last = phases.at(-1);
  if (last?.end_date && subscription.end_date !== null && last.end_date !== subscription.end_date)
    throw invalidField(
      `phases[${phases.length - 1}].end_date`,
      `must be the end of the subscription (${subscription.end_date})`,
    );
}

/**
 * Refuses to move a boundary between phases, or the end of the last one, into time that is invoiced already:
 * the advances of the running period are (billing 11).
 */
export function assertNotInvoiced(
  boundary: Instant,
  subscription: { readonly current_period_end: Instant },
  path: string,
): void {
  const { current_period_end: from } = subscription;
  if (boundary < from)
    throw invalidField(
      path,
      `is in a period that is invoiced already; it can be changed from ${from} on`,
    );
}

/** A boundary lies between its neighbours: every phase keeps some time. */
export function assertBetween(
  boundary: Instant,
  after: Instant,
  before: Instant | null,
  path: string,
): void {
  if (boundary <= after) throw invalidField(path, `must be after ${after}`);
  if (before !== null && boundary >= before) throw invalidField(path, `must be before ${before}`);
}
