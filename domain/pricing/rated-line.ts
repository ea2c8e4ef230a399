import type { Explanation } from '../../schemas/explanation.ts';
import type { Decimal } from '../money.ts';
import type { CommitmentInfo } from './commitment.ts';
import type { Period } from '../time/instant.ts';

/**
 * What a row charges for. With the subscription line item and the start of the service it is the
 * row's identity (billing 3.1).
 */
export const LINE_KINDS = ['base', 'overage', 'true_up', 'credit'] as const;
export type LineKind = (typeof LINE_KINDS)[number];

/** One row of an invoice as rating answers it: the amount and, from the same computation, its account. */
export interface RatedLine {
  readonly kind: LineKind;
  /** The service that the row charges for. */
  readonly period: Period;
  /** Charged units, after the allowance. */
  readonly quantity: Decimal;
  /** Rounded to the currency. */
  readonly amount: Decimal;
  readonly unrounded: Decimal;
  /** Free units of an entitlement; null where no entitlement applies (billing 4.1). */
  readonly adjusted_entitlement_quantity: Decimal | null;
  readonly commitment_info: CommitmentInfo | null;
  readonly explanation: Explanation;
}
