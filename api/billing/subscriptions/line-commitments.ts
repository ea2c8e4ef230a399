import { invalidField } from '../../../domain/errors.ts';
import type { CommitmentFields } from '../../../domain/pricing/commitment.ts';
import { commitmentTerms } from '../../../domain/pricing/commitment.ts';
import {
  commitmentReach,
  validateLineCommitment,
} from '../../../domain/pricing/validate-commitment.ts';
import type { CreateSubscriptionBody } from '../../../schemas/subscription-requests.ts';
import type { LineItemRow } from '../../../schemas/subscription.ts';
import type { BilledLine } from '../computing/billing-sources.ts';
import { lineOfPrice } from './line-of-price.ts';

type CommitmentColumns = Pick<
  LineItemRow,
  | 'commitment_amount'
  | 'commitment_quantity'
  | 'commitment_type'
  | 'commitment_duration'
  | 'commitment_overage_factor'
  | 'commitment_true_up_enabled'
  | 'commitment_windowed'
>;

export const NO_COMMITMENT: CommitmentColumns = {
  commitment_amount: null,
  commitment_quantity: null,
  commitment_type: null,
  commitment_duration: null,
  commitment_overage_factor: null,
  commitment_true_up_enabled: false,
  commitment_windowed: false,
};

/** The commitments of a request in the field names of a line item, each with its path. */
export function requestedCommitments(
  body: CreateSubscriptionBody,
): { readonly path: string; readonly commitment: CommitmentFields }[] {
  const ofLines = (body.line_items ?? []).map((commitment, index) => ({
    path: `line_items[${index}]`,
    commitment,
  }));
  const ofPrices = Object.entries(body.line_item_commitments ?? {}).map(([price_id, config]) => ({
    path: `line_item_commitments.${price_id}`,
    commitment: fieldsOf(config),
  }));
  return [...ofLines, ...ofPrices];
}

/** Refuses commitments that contradict themselves, before the records they name are read. */
export function refuseCommitmentContradictions(body: CreateSubscriptionBody): void {
  for (const { path, commitment } of requestedCommitments(body))
    validateLineCommitment(commitment, { type: 'USAGE', windowed: true }, path);
}

/** The lines with the commitments that `line_item_commitments` sets by price (billing 6.2). */
export function withCommitments(
  lines: readonly BilledLine[],
  body: CreateSubscriptionBody,
): BilledLine[] {
  const found = new Map<BilledLine, CommitmentColumns>();
  for (const [price_id, config] of Object.entries(body.line_item_commitments ?? {})) {
    const path = `line_item_commitments.${price_id}`;
    const line = lineOfPrice(lines, price_id, path);
    if (found.has(line) || commitmentTerms(line) !== null)
      throw invalidField(path, 'the line item of the price has a commitment already');
    found.set(line, commitmentColumns(fieldsOf(config), line, path));
  }
  return lines.map((line) => ({ ...line, ...found.get(line) }));
}

/** A commitment as stored on a line of the price; refused if the line cannot have it. */
export function commitmentColumns(
  commitment: CommitmentFields,
  line: Pick<LineItemRow, 'price_type' | 'billing_period' | 'billing_period_count'>,
  path: string,
): CommitmentColumns {
  validateLineCommitment(commitment, { type: line.price_type, windowed: false }, path);
  const terms = commitmentTerms(commitment);
  if (terms === null) return NO_COMMITMENT;
  if (commitmentReach(terms, line) !== 'period')
    throw invalidField(
      `${path}.commitment_duration`,
      'must be as long as the charge period of the price in this version; leave it out',
    );
  const { type, duration } = terms;
  return {
    commitment_amount: type === 'amount' ? commitment.commitment_amount! : null,
    commitment_quantity: type === 'quantity' ? commitment.commitment_quantity! : null,
    commitment_type: type,
    commitment_duration: duration,
    commitment_overage_factor: commitment.commitment_overage_factor ?? '1',
    commitment_true_up_enabled: terms.trueUpEnabled,
    commitment_windowed: false,
  };
}

/**
 * The commitment of the line that a newer version of its price replaces: a commitment belongs to the line, so
 * it outlives the version (billing 2.8, 6.2). In the period of the replacement each line has its
 * share of the commitment.
 */
export function inheritedCommitment(
  lines: readonly BilledLine[],
  price: BilledLine['price'],
): CommitmentColumns {
  const before = lines
    .filter(
      (line) =>
        line.entity_type === 'plan' &&
        line.price.parent_price_id === price.parent_price_id &&
        commitmentTerms(line) !== null,
    )
    .reduce<BilledLine | null>(
      (latest, line) => (latest === null || line.start_date > latest.start_date ? line : latest),
      null,
    );
  if (before === null || price.type !== 'USAGE') return NO_COMMITMENT;
  return commitmentColumns(before, { ...price, price_type: price.type }, 'commitment');
}

function fieldsOf(
  config: NonNullable<CreateSubscriptionBody['line_item_commitments']>[string],
): CommitmentFields {
  const { overage_factor, enable_true_up, ...fields } = config;
  return {
    commitment_amount: fields.commitment_amount ?? null,
    commitment_quantity: fields.commitment_quantity ?? null,
    commitment_type: fields.commitment_type ?? null,
    commitment_duration: fields.commitment_duration ?? null,
    commitment_overage_factor: overage_factor ?? null,
    commitment_true_up_enabled: enable_true_up ?? null,
  };
}
