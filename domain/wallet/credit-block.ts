import { decimal, Decimal, decimalText, sum, ZERO } from '../money.ts';
import { epochMs } from '../time/instant.ts';
import { inOrderOfUse } from './order-of-use.ts';
import { CREDIT_BUCKETS, type Consumption, type CreditReason } from './transaction.ts';

/**
 * The remaining credits of a completed credit row (money 2.3.1). Credits are decimal text. A
 * block with null priority is used last. `expiry_date` is exclusive: at that instant the block is expired.
 */
export interface CreditBlock {
  readonly id: string;
  readonly transaction_reason: CreditReason;
  readonly credits_available: string;
  readonly priority: number | null;
  readonly expiry_date: string | null;
  readonly created_at: string;
}

/** Maximum time after its expiry that a block is held for a late invoice (money 2.7.4). */
export const HOLD_LIMIT_MS = 72 * 60 * 60 * 1000;

/**
 * Whether the block can be spent at `at`. An invoice for a period that ended before the block expired may
 * use it until 72 hours after the expiry. `arrearsPeriodEnd` is the end of that period; null for
 * every other purpose (money 2.5 step 4, 2.7.4).
 */
export function isSpendable(
  block: CreditBlock,
  at: string,
  arrearsPeriodEnd: string | null = null,
): boolean {
  if (!decimal(block.credits_available).gt(0)) return false;
  if (block.expiry_date === null) return true;
  const [now, expiry] = [epochMs(at), epochMs(block.expiry_date)];
  if (expiry > now) return true;
  return (
    arrearsPeriodEnd !== null && epochMs(arrearsPeriodEnd) <= expiry && now < expiry + HOLD_LIMIT_MS
  );
}

export interface Taken {
  readonly breakdown: readonly Consumption[];
  /** The changed blocks with their remaining credits. */
  readonly blocks: readonly CreditBlock[];
  /** Credits that no block covered; zero when the blocks covered all. */
  readonly uncovered: Decimal;
}

/**
 * Takes credits from the spendable blocks in order of use, until the credits are covered or the blocks are
 * empty.
 */
export function takeCredits(
  blocks: readonly CreditBlock[],
  credits: Decimal,
  at: string,
  arrearsPeriodEnd: string | null = null,
): Taken {
  const spendable = blocks.filter((block) => isSpendable(block, at, arrearsPeriodEnd));
  return takeInOrder(inOrderOfUse(spendable), credits);
}

/** Takes credits from the blocks in the given order and ignores their expiry. */
export function takeInOrder(blocks: readonly CreditBlock[], credits: Decimal): Taken {
  const breakdown: Consumption[] = [];
  const touched: CreditBlock[] = [];
  let uncovered = credits;
  for (const block of blocks) {
    const available = decimal(block.credits_available);
    const part = Decimal.min(available, uncovered);
    if (part.lte(0)) continue;
    breakdown.push({ credit_transaction_id: block.id, credits: decimalText(part) });
    touched.push({ ...block, credits_available: decimalText(available.minus(part)) });
    uncovered = uncovered.minus(part);
  }
  return { breakdown, blocks: touched, uncovered };
}

/** Credits that can be spent at `at` (money 2.7.5). */
export const spendableCredits = (
  blocks: readonly CreditBlock[],
  at: string,
  arrearsPeriodEnd: string | null = null,
): Decimal => availableCredits(blocks.filter((block) => isSpendable(block, at, arrearsPeriodEnd)));

/** Total credits of the blocks, including expired ones. */
export const availableCredits = (blocks: readonly CreditBlock[]): Decimal =>
  sum(blocks.map((block) => decimal(block.credits_available)));

/**
 * Credits that a new block keeps after its credits have filled the overdraft (money 2.4.2).
 * In an overdrawn wallet without other blocks this is max(0, balance after).
 */
export const availableAfterOverdraft = (overdrawn: Decimal, credits: Decimal): Decimal =>
  Decimal.max(credits.minus(overdrawn), ZERO);

/** Granted and purchased credits; they sum to the available credits (money 2.3.7). */
export function creditsAvailableBreakdown(blocks: readonly CreditBlock[]): {
  readonly free: string;
  readonly purchased: string;
} {
  const ofBucket = (bucket: 'free' | 'purchased') =>
    availableCredits(blocks.filter((block) => CREDIT_BUCKETS[block.transaction_reason] === bucket));
  return { free: decimalText(ofBucket('free')), purchased: decimalText(ofBucket('purchased')) };
}
