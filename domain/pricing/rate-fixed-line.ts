import assert from 'node:assert/strict';
import type { ExplanationStep } from '../../schemas/explanation.ts';
import type { Currency } from '../currency.ts';
import { decimal, decimalText } from '../money.ts';
import { explainQuantity, explainRate, roundLine } from './explain.ts';
import type { PriceTerms } from './price.ts';
import {
  chargedSlice,
  explainProration,
  isWhole,
  prorate,
  sliceShare,
  type ChargeCell,
  type ProrationBehavior,
} from './proration.ts';
import { epochMs, isoText, type Period } from '../time/instant.ts';
import { rate } from './rate.ts';
import type { RatedLine } from './rated-line.ts';

const ONE_TIME_MS = 1_000;

export interface FixedLineInput {
  readonly price: PriceTerms;
  /** Quantity of the line item: decimal text, 0 or more. */
  readonly quantity: string;
  /** The charge cell. For a one-time price the instant when it is due; it is never prorated. */
  readonly cell: ChargeCell | { readonly at: string };
  readonly proration_behavior: ProrationBehavior;
  /** Record of the custom currency. Absent means the currency code of the price. */
  readonly currency?: Currency;
}

/**
 * A fixed fee for one charge cell: c × rate(price, quantity), rounded once. Tiers and packages also apply to
 * seat counts and are prorated as a whole (billing 2.3, 5.1, 5.2).
 */
export function rateFixedLine(input: FixedLineInput): RatedLine {
  const { price } = input;
  const currency = input.currency ?? price.currency;
  const quantity = decimal(input.quantity);
  assert(quantity.gte(0), 'a negative quantity');
  const rating = rate(price.model, quantity);
  const steps: ExplanationStep[] = [
    explainQuantity(price, quantity),
    explainRate(price.model, rating),
  ];

  let unrounded = rating.amount;
  const period = servicePeriod(input.cell);
  if ('reference' in input.cell) {
    const slice = chargedSlice(input.cell, input.proration_behavior);
    const share = sliceShare(slice, input.cell);
    if (!isWhole(share)) {
      unrounded = prorate(rating.amount, share);
      steps.push(explainProration(rating.amount, slice, input.cell.reference, share, unrounded));
    }
  }

  const rounded = roundLine(unrounded, currency);
  steps.push(rounded.step);
  return {
    kind: 'base',
    period,
    quantity,
    amount: rounded.amount,
    unrounded,
    adjusted_entitlement_quantity: null,
    commitment_info: null,
    explanation: {
      kind: 'base',
      currency: rounded.step.currency,
      period,
      quantity: decimalText(quantity),
      amount: decimalText(rounded.amount),
      steps,
    },
  };
}

/** The service of a one-time price is the second that begins when it is due (billing 3.1). */
function servicePeriod(cell: FixedLineInput['cell']): Period {
  if (!('at' in cell)) return cell.service;
  return { start: cell.at, end: isoText(epochMs(cell.at) + ONE_TIME_MS) };
}
