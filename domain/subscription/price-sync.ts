import { equallyLong, type BillingPeriod, type Cadence } from '../pricing/cadence.ts';
import { currencyFits } from '../pricing/currency-fits.ts';
import type { InvoiceCadence, PriceType } from '../pricing/price.ts';
import { laterOf, type Instant } from '../time/instant.ts';
import { isCompatible } from './select-prices.ts';

/** A version of a plan price. */
export interface SyncedPrice {
  readonly id: string;
  /** Root of the lineage. */
  readonly parent_price_id: string;
  readonly status: string;
  readonly type: PriceType;
  readonly invoice_cadence: InvoiceCadence;
  readonly currency: string;
  readonly billing_period: BillingPeriod;
  readonly billing_period_count: number;
  readonly start_date: Instant | null;
  readonly end_date: Instant | null;
}

/** A line item of a subscription on the plan. */
export interface SyncedLine {
  readonly id: string;
  readonly price_id: string;
  /**
   * Root of the lineage of its price. A price of the subscription itself keeps the root of the plan price.
   */
  readonly parent_price_id: string;
  readonly entity_type: 'plan' | 'addon' | 'subscription';
  readonly end_date: Instant | null;
}

export interface SyncedSubscription {
  readonly currency: string;
  readonly default_currency?: string | null;
  readonly cadence: Cadence;
  readonly start_date: Instant;
  readonly end_date: Instant | null;
  /**
   * The caller's selection of plan prices. Null means prices of the subscription's cadence and one-time
   * prices.
   */
  readonly include_price_ids: readonly string[] | null;
  /** Start of the oldest period that is not finalized. Nothing before it is changed. */
  readonly open_from: Instant;
  /** Instant up to which advance fees are paid. Advance prices do not change earlier. */
  readonly advance_until: Instant;
}

export interface PriceSync {
  readonly ends: readonly { readonly line_item_id: string; readonly end_date: Instant }[];
  readonly creates: readonly {
    readonly price_id: string;
    readonly start_date: Instant;
    readonly end_date: Instant | null;
    /** The newest plan line on another version of the price. Null if not found. */
    readonly follows: string | null;
  }[];
}

/**
 * Line changes on one subscription from the prices of its plan (billing 2.8). `lines` are ordered
 * oldest first. Lines on an ended price end with it, and no earlier than the oldest period that is not final. A
 * price gets a line if it has not ended by `now`, fits, is selected, and the subscription has neither a line for
 * it nor its own price of the lineage. A version that has ended gets one too, if it served between a line and a
 * later version. A fixed fee paid in advance changes at the next boundary, never within a period. Idempotent: a
 * second run changes nothing.
 */
export function planPriceSync(
  prices: readonly SyncedPrice[],
  lines: readonly SyncedLine[],
  subscription: SyncedSubscription,
  now: Instant,
): PriceSync {
  const byId = new Map(prices.map((price) => [price.id, price]));
  const ends = lines.flatMap((line) => {
    const price = byId.get(line.price_id);
    if (price === undefined || price.end_date === null) return [];
    const end_date = endOf(price, price.end_date, subscription);
    if (line.end_date !== null && line.end_date <= end_date) return [];
    return [{ line_item_id: line.id, end_date }];
  });
  const creates = prices
    .filter((price) => isWanted(price, prices, lines, subscription, now))
    .map((price) => ({
      price_id: price.id,
      start_date: startOf(price, subscription),
      end_date: price.end_date ?? subscription.end_date,
      follows: predecessorOf(price, lines),
    }))
    .filter(({ start_date, end_date }) => end_date === null || start_date < end_date);
  return { ends, creates };
}

function isWanted(
  price: SyncedPrice,
  prices: readonly SyncedPrice[],
  lines: readonly SyncedLine[],
  subscription: SyncedSubscription,
  now: Instant,
): boolean {
  if (price.status !== 'published') return false;
  const hasEnded = price.end_date !== null && price.end_date <= now;
  if (hasEnded && !isBetween(price, price.end_date!, prices, lines)) return false;
  const known = lines.some(
    (line) =>
      line.price_id === price.id ||
      (line.entity_type === 'subscription' && line.parent_price_id === price.parent_price_id),
  );
  return !known && currencyFits(price, subscription) && isSelected(price, prices, subscription);
}

/** Whether the version followed a version that a line bills, and a later one follows it. */
function isBetween(
  price: SyncedPrice,
  end: Instant,
  prices: readonly SyncedPrice[],
  lines: readonly SyncedLine[],
): boolean {
  const { billing_period, parent_price_id: root, start_date } = price;
  if (billing_period === 'ONETIME' || start_date === null) return false;
  const before = lines.findLast(
    (line) => line.entity_type === 'plan' && line.parent_price_id === root,
  );
  const isServed =
    before !== undefined && (before.end_date === null || before.end_date >= start_date);
  const isFollowed = prices.some(
    (later) =>
      later.status === 'published' &&
      later.parent_price_id === root &&
      later.start_date !== null &&
      later.start_date >= end,
  );
  return isServed && isFollowed;
}

const predecessorOf = (price: SyncedPrice, lines: readonly SyncedLine[]): string | null =>
  lines.findLast(
    (line) => line.entity_type === 'plan' && line.parent_price_id === price.parent_price_id,
  )?.id ?? null;

/** A selection contains price versions and applies to their whole lineages. */
function isSelected(
  price: SyncedPrice,
  prices: readonly SyncedPrice[],
  { include_price_ids: named, cadence }: SyncedSubscription,
): boolean {
  if (named === null) return price.billing_period === 'ONETIME' || equallyLong(price, cadence);
  const lineages = prices
    .filter((candidate) => named.includes(candidate.id))
    .map((candidate) => candidate.parent_price_id);
  return lineages.includes(price.parent_price_id) && isCompatible(price, cadence);
}

const isPaidInAdvance = (price: SyncedPrice): boolean =>
  price.type === 'FIXED' &&
  price.invoice_cadence === 'ADVANCE' &&
  price.billing_period !== 'ONETIME';

/** Nothing ends in a period that is final, and no advance in time that is paid. */
const endOf = (
  price: SyncedPrice,
  end: Instant,
  { advance_until, open_from }: SyncedSubscription,
): Instant => laterOf(end, isPaidInAdvance(price) ? advance_until : open_from);

function startOf(price: SyncedPrice, subscription: SyncedSubscription): Instant {
  const { start_date, open_from, advance_until } = subscription;
  const start = laterOf(laterOf(start_date, price.start_date), open_from);
  return isPaidInAdvance(price) ? laterOf(start, advance_until) : start;
}
