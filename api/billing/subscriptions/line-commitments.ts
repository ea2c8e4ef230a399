import { BillingError, invalidField } from '../../../domain/errors.ts';
import {
  NO_COMMITMENT,
  commitmentTerms,
  type CommitmentFields,
} from '../../../domain/pricing/commitment.ts';
import { decimal } from '../../../domain/money.ts';
import {
  validateLineCommitment,
  validateSubscriptionCommitment,
} from '../../../domain/pricing/validate-commitment.ts';
import type { CreateSubscriptionBody } from '../../../schemas/subscription-requests.ts';
import type { LineItemRow } from '../../../schemas/subscription.ts';
import type { PriceRow } from '../../catalog/prices/repository.ts';
import type { BilledLine } from '../computing/billing-sources.ts';
import { lineOfPrice } from './line-of-price.ts';

/** The commitment as stored on a line item. */
export type CommitmentColumns = Pick<
  LineItemRow,
  | 'commitment_amount'
  | 'commitment_quantity'
  | 'commitment_type'
  | 'commitment_duration'
  | 'commitment_overage_factor'
  | 'commitment_true_up_enabled'
  | 'commitment_windowed'
>;

type CommittingBody = Pick<CreateSubscriptionBody, 'line_items' | 'line_item_commitments'>;

/** The commitments of a request in the field names of a line item, each with its path. */
export function requestedCommitments(
  body: CommittingBody & Pick<CreateSubscriptionBody, 'phases'>,
): { readonly path: string; readonly commitment: CommitmentFields }[] {
  const ofPhases = (body.phases ?? []).flatMap((phase, index) =>
    commitmentsIn(phase, `phases[${index}].`),
  );
  return [...commitmentsIn(body, ''), ...ofPhases];
}

function commitmentsIn({ line_items, line_item_commitments }: CommittingBody, within: string) {
  const ofLines = (line_items ?? []).map((commitment, index) => ({
    path: `${within}line_items[${index}]`,
    commitment,
  }));
  const ofPrices = Object.entries(line_item_commitments ?? {}).map(([price_id, config]) => {
    const path = `${within}line_item_commitments.${price_id}`;
    return { path, commitment: fieldsOf(config, path) };
  });
  return [...ofLines, ...ofPrices];
}

/** Refuses commitments that contradict themselves or each other. Runs before the named records are read. */
export function refuseCommitmentContradictions(body: CreateSubscriptionBody): void {
  const { billing_period, billing_period_count } = body;
  validateSubscriptionCommitment(body, {
    billing_period,
    billing_period_count: billing_period_count ?? 1,
  });
  const subscription_committed = isCommitted(body);
  if (!subscription_committed) refuseWithoutAmount(body);
  for (const { path, commitment } of requestedCommitments(body))
    inRequestNames(path, () =>
      validateLineCommitment(
        commitment,
        { type: 'USAGE', windowed: true, subscription_committed },
        path,
      ),
    );
}

/** `line_item_commitments` has other names for three fields of a line item; its refusals use them. */
function inRequestNames<Value>(path: string, work: () => Value): Value {
  if (!path.includes('line_item_commitments.')) return work();
  try {
    return work();
  } catch (error) {
    if (!(error instanceof BillingError)) throw error;
    const named = (text: string) =>
      text
        .replace('.commitment_overage_factor', '.overage_factor')
        .replace('.commitment_true_up_enabled', '.enable_true_up')
        .replace('.commitment_windowed', '.is_window_commitment');
    const details = error.details.map((detail) => ({ ...detail, path: named(detail.path) }));
    throw new BillingError(
      error.kind,
      error.code,
      named(error.message),
      details,
      error.error_count,
    );
  }
}

const isCommitted = ({
  commitment_amount,
}: Pick<CreateSubscriptionBody, 'commitment_amount'>): boolean =>
  decimal(commitment_amount ?? '0').gt(0);

/** Terms without a commitment would have no effect. */
function refuseWithoutAmount(body: CreateSubscriptionBody): void {
  const { commitment_duration, enable_true_up, overage_factor } = body;
  const message = 'has no effect without commitment_amount';
  if (commitment_duration) throw invalidField('commitment_duration', message);
  if (enable_true_up === true) throw invalidField('enable_true_up', message);
  if (overage_factor && !decimal(overage_factor).eq(1))
    throw invalidField('overage_factor', message);
}

/** The subscription's own commitment as stored (billing 6.1). */
export function subscriptionCommitment(body: CreateSubscriptionBody) {
  return {
    commitment_amount: isCommitted(body) ? body.commitment_amount! : null,
    commitment_duration: body.commitment_duration ?? null,
    enable_true_up: body.enable_true_up ?? false,
    overage_factor: body.overage_factor ?? '1',
  };
}

/** The lines with the commitments that `line_item_commitments` sets by price (billing 6.2). */
export function withCommitments(
  lines: readonly BilledLine[],
  commitments: CreateSubscriptionBody['line_item_commitments'],
  {
    meters,
    subscription,
    within = '',
  }: {
    readonly meters: Buckets;
    readonly subscription: SubscriptionCommitting;
    /** Path of the commitments in the request, followed by a dot. */
    readonly within?: string;
  },
): BilledLine[] {
  const found = new Map<BilledLine, CommitmentColumns>();
  for (const [price_id, config] of Object.entries(commitments ?? {})) {
    const path = `${within}line_item_commitments.${price_id}`;
    const line = lineOfPrice(lines, price_id, path);
    if (found.has(line) || commitmentTerms(line) !== null)
      throw invalidField(path, 'the line item of the price has a commitment already');
    const columns = inRequestNames(path, () =>
      commitmentColumns(
        fieldsOf(config, path),
        committedLine(line.price, meters, subscription),
        path,
      ),
    );
    found.set(line, columns);
  }
  return lines.map((line) => ({ ...line, ...found.get(line) }));
}

/** Fields of the line that the check of a commitment reads. */
export interface CommittedLine {
  readonly type: PriceRow['type'];
  /** Whether the price or its meter has a bucket. */
  readonly windowed: boolean;
  /** Whether the subscription has a commitment of its own. */
  readonly subscription_committed: boolean;
}

/** Fields of a subscription that decide whether its own commitment excludes commitments of its lines. */
export interface SubscriptionCommitting {
  readonly commitment_amount?: string | null;
}

/** The bucket of each meter, by id. */
export type Buckets = ReadonlyMap<string, string | null>;

export const committedLine = (
  price: PriceRow,
  meters: Buckets,
  subscription: SubscriptionCommitting,
): CommittedLine => ({
  type: price.type,
  windowed: (price.bucket_size ?? meters.get(price.meter_id ?? '') ?? null) !== null,
  subscription_committed: isCommitted(subscription),
});

/** The commitment as stored on a line of the price. Refuses a commitment that the line cannot have. */
export function commitmentColumns(
  commitment: CommitmentFields,
  line: CommittedLine,
  path: string,
): CommitmentColumns {
  validateLineCommitment(commitment, line, path);
  const terms = commitmentTerms(commitment);
  if (terms === null) return NO_COMMITMENT;
  const { type, duration } = terms;
  return {
    commitment_amount: type === 'amount' ? commitment.commitment_amount! : null,
    commitment_quantity: type === 'quantity' ? commitment.commitment_quantity! : null,
    commitment_type: type,
    commitment_duration: duration,
    commitment_overage_factor: commitment.commitment_overage_factor ?? '1',
    commitment_true_up_enabled: terms.trueUpEnabled,
    commitment_windowed: terms.windowed,
  };
}

/**
 * The commitment of a line whose price is replaced by a newer version. A commitment belongs to the line, not
 * to the version, so the new line has it too (billing 2.8, 6.2). In the period of the replacement each line
 * has its share of the commitment.
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
  // The meter keeps its bucket; a bucket of the price may have been removed with the version.
  const windowed = price.bucket_size !== null || before.price.bucket_size === null;
  const commitment_windowed = before.commitment_windowed && windowed;
  return commitmentColumns(
    { ...before, commitment_windowed },
    { type: price.type, windowed, subscription_committed: false },
    'commitment',
  );
}

type LineCommitment = NonNullable<CreateSubscriptionBody['line_item_commitments']>[string];

/** Three fields have two names each, of which a request may send either. */
function fieldsOf(config: LineCommitment, path: string): CommitmentFields {
  const oneOf = <First extends keyof LineCommitment, Second extends keyof LineCommitment>(
    first: First,
    second: Second,
  ): LineCommitment[First] | LineCommitment[Second] | null => {
    const [left, right] = [config[first] ?? null, config[second] ?? null];
    if (left !== null && right !== null && left !== right)
      throw invalidField(`${path}.${second}`, `differs from ${first}, which is the same field`);
    return left ?? right;
  };
  if (Object.values(config).every((value) => value == null))
    throw invalidField(path, 'needs commitment_amount or commitment_quantity');
  return {
    commitment_amount: config.commitment_amount ?? null,
    commitment_quantity: config.commitment_quantity ?? null,
    commitment_type: config.commitment_type ?? null,
    commitment_duration: config.commitment_duration ?? null,
    commitment_overage_factor: oneOf('overage_factor', 'commitment_overage_factor') ?? null,
    commitment_true_up_enabled: oneOf('enable_true_up', 'commitment_true_up_enabled') ?? null,
    commitment_windowed: oneOf('is_window_commitment', 'commitment_windowed') ?? null,
  };
}
