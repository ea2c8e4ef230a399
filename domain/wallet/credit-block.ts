import { decimal, Decimal, decimalText, sum, ZERO } from '../money.ts';
import { byText } from '../text-order.ts';
import { epochMs } from '../time/instant.ts';
import { CREDIT_BUCKETS, type Consumption, type CreditReason } from './transaction.ts';

/**
 * What is left of a completed credit row (money 2.3.1). Credits are decimal text; a null
 * priority is used last; `expiry_date` is exclusive: the block is dead at that instant.
 */
export interface CreditBlock {
  readonly id: string;
  readonly transaction_reason: CreditReason;
  readonly credits_available: string;
  readonly priority: number | null;
  readonly expiry_date: string | null;
  readonly created_at: string;
}

/** A block whose credits wait for a late invoice is held at most this long after its expiry (money 2.7.4). */
export const HOLD_LIMIT_MS = 72 * 60 * 60 * 1000;

/**
 * Whether the block can be spent at `at`. An invoice for a period that ended while the block was
 * alive may still use it for 72 hours after its expiry: `arrearsPeriodEnd` is that end, null for
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

/** The order of use: priority, then the sooner expiry, then the older; ids settle what is left (money 2.5 step 5). */
export function inOrderOfUse(blocks: readonly CreditBlock[]): CreditBlock[] {
  return [...blocks].sort(
    (left, right) =>
      nullsLast(left.priority, right.priority, (one, other) => one - other) ||
      nullsLast(
        left.expiry_date,
        right.expiry_date,
        (one, other) => epochMs(one) - epochMs(other),
      ) ||
      epochMs(left.created_at) - epochMs(right.created_at) ||
      byText(left.id, right.id),
  );
}

export interface Taken {
  readonly breakdown: readonly Consumption[];
  /** The blocks that were touched, with what is left of them. */
  readonly blocks: readonly CreditBlock[];
  /** What no block covered; zero when all was. */
  readonly uncovered: Decimal;
}

/** Takes credits from the spendable blocks in order, as far as they go. */
export function takeCredits(
  blocks: readonly CreditBlock[],
  credits: Decimal,
  at: string,
  arrearsPeriodEnd: string | null = null,
): Taken {
  const spendable = blocks.filter((block) => isSpendable(block, at, arrearsPeriodEnd));
  return takeInOrder(inOrderOfUse(spendable), credits);
}

/** Takes credits from the blocks in the order given, whatever their expiry. */
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

/** Credits in the blocks, expired or not. */
export const availableCredits = (blocks: readonly CreditBlock[]): Decimal =>
  sum(blocks.map((block) => decimal(block.credits_available)));

/**
 * What a credit leaves for its block once it has filled the overdraft (money 2.4.2). With
 * no block left in an overdrawn wallet this is max(0, balance after).
 */
export const availableAfterOverdraft = (overdrawn: Decimal, credits: Decimal): Decimal =>
  Decimal.max(credits.minus(overdrawn), ZERO);

/** Granted and bought credits; the two sum to what is available (money 2.3.7). */
export function creditsAvailableBreakdown(blocks: readonly CreditBlock[]): {
  readonly free: string;
  readonly purchased: string;
} {
  const ofBucket = (bucket: 'free' | 'purchased') =>
    availableCredits(blocks.filter((block) => CREDIT_BUCKETS[block.transaction_reason] === bucket));
  return { free: decimalText(ofBucket('free')), purchased: decimalText(ofBucket('purchased')) };
}

function nullsLast<T>(left: T | null, right: T | null, compare: (one: T, other: T) => number) {
  if (left === null || right === null) return Number(left === null) - Number(right === null);
  return compare(left, right);
}
