import type { ExplanationStep } from '../../schemas/explanation.ts';
import type { Currency } from '../currency.ts';
import { decimal, decimalText, sum, ZERO, type Decimal } from '../money.ts';
import { capCredit, explainCredit, netOfDiscounts, type BilledWindow } from './credit.ts';
import { currencyCode, explainQuantity, explainRate, roundLine } from './explain.ts';
import type { InvoiceCadence, PriceTerms } from './price.ts';
import { explainProration, prorate, sliceShare, type ProrationBehavior } from './proration.ts';
import { epochMs, type Period } from '../time/instant.ts';
import type { IdleTime } from '../time/paused-cells.ts';
import { rate } from './rate.ts';
import type { LineKind, RatedLine } from './rated-line.ts';

/** Price and quantity of a line before or after a change. */
export interface LineTerms {
  readonly price: PriceTerms;
  /** Decimal text. */
  readonly quantity: string;
}

/** A charge cell, billed in advance, that a change cuts. */
export interface BilledCell {
  /** The uncut cell: the period that a full amount pays for. */
  readonly reference: Period;
  /** The part of the cell that the old line was to serve. */
  readonly service: Period;
  /** Pauses in the cell; absent without one. */
  readonly idle?: IdleTime;
  /** Absent if the old line was never billed (the change only adds a line). */
  readonly billed?: BilledWindow;
}

export interface LineChange {
  /** Null means the line is added. */
  readonly before: LineTerms | null;
  /** Null means the line is removed. */
  readonly after: LineTerms | null;
  readonly invoice_cadence: InvoiceCadence;
  readonly effective_at: string;
  readonly proration_behavior: ProrationBehavior;
  /** The cells of the current billing period, in order. */
  readonly cells: readonly BilledCell[];
  readonly currency?: Currency;
}

/**
 * Rows that a change of a fixed line creates now, for each cell that was billed in advance: a credit of c ×
 * rate(old) for the rest of the cell, net of its discounts and capped by the billed amount, and a charge of c
 * × rate(new). Each row is rounded separately (billing 5.1 to 5.3, 14.1).
 *
 * No rows for `none` (the new amount is billed from the next period), for ARREAR (each version pays its own
 * slice at the end of the period), and for USAGE and one-time prices, which are never prorated.
 */
export function changeRows(change: LineChange): readonly RatedLine[] {
  if (change.proration_behavior === 'none' || change.invoice_cadence === 'ARREAR') return [];
  return change.cells.flatMap((cell) => {
    const slice = remaining(cell.service, change.effective_at);
    if (slice === null) return [];
    return [
      ...(isProrated(change.before) ? [creditRow(change, change.before, cell, slice)] : []),
      ...(isProrated(change.after) ? [chargeRow(change, change.after, cell, slice)] : []),
    ];
  });
}

const isProrated = (terms: LineTerms | null): terms is LineTerms =>
  terms !== null && terms.price.type === 'FIXED';

/** The rest of a service period from an instant on. Null when it is over. */
function remaining(service: Period, from: string): Period | null {
  if (epochMs(from) >= epochMs(service.end)) return null;
  return epochMs(from) <= epochMs(service.start) ? service : { start: from, end: service.end };
}

interface Slice {
  readonly unrounded: Decimal;
  readonly quantity: Decimal;
  readonly steps: readonly ExplanationStep[];
}

function chargeRow(change: LineChange, terms: LineTerms, cell: BilledCell, slice: Period) {
  const priced = priceSlice(terms, cell, slice);
  const rounded = roundLine(priced.unrounded, change.currency ?? terms.price.currency);
  return row('base', change, terms, slice, {
    amount: rounded.amount,
    unrounded: priced.unrounded,
    quantity: priced.quantity,
    steps: [...priced.steps, rounded.step],
  });
}

/** The price of the slice minus its discounts, capped by the billed amount that is not yet credited. */
function creditRow(change: LineChange, terms: LineTerms, cell: BilledCell, slice: Period) {
  const priced = priceSlice(terms, cell, slice);
  const billed = cell.billed ?? NOT_BILLED;
  const net = netOfDiscounts(priced.unrounded, billed);
  const worth = net?.amount ?? priced.unrounded;
  const rounded = roundLine(worth, change.currency ?? terms.price.currency);
  const amount = ZERO.minus(capCredit(rounded.amount, billed));
  return row('credit', change, terms, slice, {
    amount,
    unrounded: ZERO.minus(worth),
    quantity: priced.quantity,
    steps: [
      ...priced.steps,
      ...(net === null ? [] : [net.step]),
      rounded.step,
      explainCredit(rounded.amount, billed, amount),
    ],
  });
}

const NOT_BILLED: BilledWindow = { gross: ZERO, billed: ZERO, credited: ZERO };

function priceSlice({ price, quantity }: LineTerms, cell: BilledCell, slice: Period): Slice {
  const units = decimal(quantity);
  const rating = rate(price.model, units);
  const share = sliceShare(slice, cell);
  const unrounded = prorate(rating.amount, share);
  return {
    unrounded,
    quantity: units,
    steps: [
      explainQuantity(price, units),
      explainRate(price.model, rating),
      explainProration(rating.amount, slice, cell.reference, share, unrounded),
    ],
  };
}

function row(
  kind: LineKind,
  change: LineChange,
  terms: LineTerms,
  period: Period,
  figures: {
    readonly amount: Decimal;
    readonly unrounded: Decimal;
    readonly quantity: Decimal;
    readonly steps: readonly ExplanationStep[];
  },
): RatedLine {
  const currency = change.currency ?? terms.price.currency;
  return {
    kind,
    period,
    quantity: figures.quantity,
    amount: figures.amount,
    unrounded: figures.unrounded,
    adjusted_entitlement_quantity: null,
    commitment_info: null,
    explanation: {
      kind,
      currency: currencyCode(currency),
      period,
      quantity: decimalText(figures.quantity),
      amount: decimalText(figures.amount),
      steps: [...figures.steps],
    },
  };
}

/** How the rows of one operation are settled: invoice, wallet credit, or nothing to settle. */
export interface Settlement {
  readonly action: 'invoice' | 'wallet_credit' | 'none';
  /** Sum of the rows. Negative means money back to the customer. */
  readonly net: Decimal;
}

/**
 * Nets all rows of one operation (billing 5.3). Above zero: one invoice. Below zero: a free wallet
 * credit of the absolute net, without expiry, and no invoice. Zero: neither.
 */
export function settleRows(rows: readonly Pick<RatedLine, 'amount'>[]): Settlement {
  const net = sum(rows.map(({ amount }) => amount));
  if (net.isZero()) return { action: 'none', net };
  return { action: net.gt(0) ? 'invoice' : 'wallet_credit', net };
}

export interface ChangeAction {
  readonly line_item_id: string;
  readonly action: string;
  readonly effective_at: string;
}

/**
 * Idempotency key of a change: the subscription and its sorted actions, in addition to the caller's own key.
 * The period is not part of it: two changes at one instant on different line items both bill
 * (billing 5.3).
 */
export function changeKey(subscriptionId: string, actions: readonly ChangeAction[]): string {
  const parts = actions
    .map(({ line_item_id, action, effective_at }) => [line_item_id, action, effective_at])
    .map((part) => JSON.stringify(part))
    .sort();
  return JSON.stringify([subscriptionId, ...parts]);
}
