import assert from 'node:assert/strict';
import type { ExplanationStepOf } from '../../schemas/explanation.ts';
import { decimalText, type Decimal } from '../money.ts';
import { epochMs, type Period } from '../time/instant.ts';
import { pausedMs, type IdleTime } from '../time/paused-cells.ts';

export type { Period };

export const PRORATION_BEHAVIORS = ['create_prorations', 'none'] as const;
export type ProrationBehavior = (typeof PRORATION_BEHAVIORS)[number];

/** A proration coefficient: the exact ratio of two durations in milliseconds, 0 ≤ part ≤ whole, whole > 0. */
export interface TimeShare {
  readonly part_ms: number;
  readonly whole_ms: number;
}

/**
 * The coefficient of a slice of its reference period (billing 5.1, 1.4). It is a ratio of instants:
 * the slices of one period sum to exactly 1, and daylight saving time needs no special case. A first period
 * that is some hours longer than its cell counts as full, never as more.
 */
export function timeShare(slice: Period, reference: Period): TimeShare {
  const whole = lengthMs(reference);
  assert(whole > 0, `an empty reference period ${reference.start}`);
  return { part_ms: Math.min(lengthMs(slice), whole), whole_ms: whole };
}

/**
 * The coefficient of a slice of a charge cell. Pauses are no time of the slice, nor of a cell that is longer by them:
 * 10 paid days after a pause are 10 of the 31 days that were paid (billing 12.4).
 */
export function sliceShare(
  slice: Period,
  { reference, idle }: Pick<ChargeCell, 'reference' | 'idle'>,
): TimeShare {
  const { part_ms, whole_ms } = timeShare(slice, reference);
  if (idle === undefined) return { part_ms, whole_ms };
  return {
    part_ms: part_ms - pausedMs(slice, idle.times),
    whole_ms: whole_ms - (idle.lengthens ? pausedMs(reference, idle.times) : 0),
  };
}

/** c × amount, unrounded. Multiplies first, so a whole share returns the amount exactly. */
export function prorate(amount: Decimal, share: TimeShare): Decimal {
  return amount.times(share.part_ms).div(share.whole_ms);
}

/** One period of the grid of a price, cut by the subscription and by the line item. */
export interface ChargeCell {
  /** The uncut cell: the period that a full amount pays for. */
  readonly reference: Period;
  /** Cut by the subscription: its start, its end, an immediate cancellation. */
  readonly cell: Period;
  /** Cut by the dates of the line item as well: the service that the row charges for. */
  readonly service: Period;
  /** The service if no pause cut its ends; absent for a service that pauses do not cut. */
  readonly unpaused_service?: Period;
  /** Pauses in the cell; absent without one. */
  readonly idle?: IdleTime;
}

/**
 * The part of the cell that is charged (billing 5.2, 11). A line item that begins or ends inside
 * the cell pays its own slice under both behaviors; otherwise two versions would both pay the period. Where
 * the subscription cuts the cell (a stub, a cancellation), `create_prorations` charges the rest and `none`
 * charges the full cell.
 */
export function chargedSlice(
  { reference, cell, service }: ChargeCell,
  behavior: ProrationBehavior,
): Period {
  if (behavior === 'create_prorations') return service;
  return {
    start: service.start === cell.start ? reference.start : service.start,
    end: service.end === cell.end ? reference.end : service.end,
  };
}

export function isWhole(share: TimeShare): boolean {
  return share.part_ms === share.whole_ms;
}

export function lengthMs(period: Period): number {
  const length = epochMs(period.end) - epochMs(period.start);
  assert(length >= 0, `a period that ends before it starts: ${period.start}, ${period.end}`);
  return length;
}

export function explainProration(
  of: Decimal,
  slice: Period,
  reference: Period,
  { part_ms, whole_ms }: TimeShare,
  amount: Decimal,
): ExplanationStepOf<'proration'> {
  return {
    step: 'proration',
    rule: 'billing 5.1',
    of: decimalText(of),
    slice,
    reference,
    slice_ms: part_ms,
    reference_ms: whole_ms,
    amount: decimalText(amount),
  };
}
