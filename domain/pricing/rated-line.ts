import type { Explanation } from '../../schemas/explanation.ts';
import type { Decimal } from '../money.ts';
import type { CommitmentInfo } from './commitment.ts';
import type { Period } from '../time/instant.ts';

/**
 * What a row charges for. Kind, subscription line item and start of the service identify a row
 * (billing 3.1).
 */
export const LINE_KINDS = ['base', 'overage', 'true_up', 'credit'] as const;
export type LineKind = (typeof LINE_KINDS)[number];

/** One rated row of an invoice: the amount, and the explanation from the same computation. */
export interface RatedLine {
  readonly kind: LineKind;
  /** The service that the row charges for. */
  readonly period: Period;
  /** Charged units, after the allowance. */
  readonly quantity: Decimal;
  /** Rounded to the currency. */
  readonly amount: Decimal;
  readonly unrounded: Decimal;
  /** Free units of an entitlement. Null if no entitlement applies (billing 4.1). */
  readonly adjusted_entitlement_quantity: Decimal | null;
  readonly commitment_info: CommitmentInfo | null;
  readonly explanation: Explanation;
}
