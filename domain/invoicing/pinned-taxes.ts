import type { Period } from '../time/instant.ts';
import { overlaps } from './service-window.ts';
import type { ResolvedTaxes, TaxAssociation } from './tax-resolution.ts';

type Bounds = Pick<TaxAssociation, 'id' | 'start_date' | 'end_date'>;

/**
 * The taxes that were pinned when the period was closed, or null if they are resolved again: nothing is pinned,
 * or an association behind a pinned rate was removed (billing 8.3). Rates and associations that came later, an
 * inactive rate, and a customer who became exempt change nothing.
 */
export function pinnedTaxes(
  pinned: ResolvedTaxes | null,
  period: Period,
  associations: readonly Bounds[],
): ResolvedTaxes | null {
  if (pinned === null) return null;
  const stands = ({ tax_association_id: id }: ResolvedTaxes['rates'][number]): boolean =>
    id === null ||
    associations.some(
      (association) =>
        association.id === id &&
        overlaps(period.start, period.end, association.start_date, association.end_date),
    );
  return pinned.rates.every(stands) ? pinned : null;
}

/** What to pin: nothing while the period runs. */
export const taxesToPin = (
  taxes: ResolvedTaxes,
  period: Period,
  at: string,
): ResolvedTaxes | null => (at >= period.end ? taxes : null);
