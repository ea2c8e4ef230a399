import { decimal, decimalText, type Decimal } from '../../../domain/money.ts';
import {
  termAt,
  termPosition,
  type TermLedgerEntry,
} from '../../../domain/pricing/commitment-term.ts';
import { longTermSchedule } from '../../../domain/subscription/schedule.ts';
import type { ChargeCell } from '../../../domain/pricing/proration.ts';
import type { RatedLine } from '../../../domain/pricing/rated-line.ts';
import type { TermPosition } from '../../../domain/pricing/term-commitment.ts';
import { unpausedTime } from '../../../domain/subscription/unpaused-time.ts';
import { earlierOf, type Period } from '../../../domain/time/instant.ts';
import {
  isPausedThroughout,
  pauseAtEnd,
  type PausedTime,
} from '../../../domain/time/paused-cells.ts';
import type { CommittedUsage } from '../../../schemas/invoice.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { BilledLine } from './billing-sources.ts';
import type { InvoiceTarget } from './invoice-target.ts';

export type { CommittedUsage };

/** Names the subscription's own commitment in the ledger; commitments of lines have the root of their price. */
export const OF_SUBSCRIPTION = 'subscription';

/** The line's name in the ledger: a newer version of the price continues the term (billing 6.4). */
export const ledgerNameOf = ({ price }: Pick<BilledLine, 'price'>): string =>
  price.parent_price_id ?? price.id;

/** The usage of one commitment in the periods of its terms (billing 6.4). */
export interface TermLedger {
  /** The position of a charge cell in its term; `commitment` is that of a whole term. */
  position(
    context: Pick<InvoiceTarget, 'subscription' | 'proration_behavior'> & TermTime,
    line: Pick<BilledLine, 'commitment_duration'>,
    commitment: { readonly commitment: Decimal },
    cell: Pick<ChargeCell, 'cell'>,
  ): TermPosition;
  /** Adds the usage of rated rows, so that later cells of the same invoice see it. */
  note(rows: readonly RatedLine[]): void;
}

/** The ledgers of an invoice: lines with versions of one price share theirs. */
export function termLedgers(
  earlier: readonly CommittedUsage[],
): (line: Pick<BilledLine, 'price'>) => TermLedger {
  const ledgers = new Map<string, TermLedger>();
  return (line) => {
    const name = ledgerNameOf(line);
    const ledger = ledgers.get(name) ?? termLedger(earlier, name);
    ledgers.set(name, ledger);
    return ledger;
  };
}

function termLedger(earlier: readonly CommittedUsage[], name: string): TermLedger {
  const known = new Map(
    earlier
      .filter((entry) => entry.commitment === name)
      .map((entry): [string, TermLedgerEntry] => [
        entry.period_start,
        { period_start: entry.period_start, base_usage: decimal(entry.base_usage) },
      ]),
  );
  return {
    position: ({ subscription, proration_behavior, ...time }, line, { commitment }, { cell }) =>
      positionInTerm(subscription, {
        pauses: time.pauses,
        ends_at: time.ends_at,
        closes_at: time.closes_at,
        duration: line.commitment_duration,
        commitment,
        ledger: [...known.values()],
        period: cell,
        proration_behavior,
      }),
    note(rows) {
      for (const { period_start, base_usage } of rows.flatMap(termUsage))
        known.set(period_start, { period_start, base_usage: decimal(base_usage) });
    },
  };
}

/** What terms of commitments depend on beside the periods. */
export interface TermTime {
  /** Pauses of the subscription, in order of time. */
  readonly pauses: readonly PausedTime[];
  /** The end of the subscription, as it was known when the period was closed; null without one. */
  readonly ends_at: string | null;
  /** The end of the billing period: pauses that begin with it or later do not count in it. Null: all count. */
  readonly closes_at: string | null;
}

/**
 * The position of a period in the term of a commitment of the subscription or of one of its lines. Terms are counted
 * in the time without pauses (billing 12.4).
 */
export function positionInTerm(
  subscription: SubscriptionRow,
  input: Omit<Parameters<typeof termPosition>[0], 'term' | 'ends_at'> &
    TermTime & { readonly duration: BilledLine['commitment_duration'] },
): TermPosition {
  const { duration, pauses, ends_at, closes_at, ...rest } = input;
  const unit = duration as Parameters<typeof termAt>[1];
  const time = unpausedTime(subscription, pauses, closes_at);
  const period = { start: time.of(rest.period.start), end: time.of(rest.period.end) };
  const position = termPosition({
    ...rest,
    period,
    ledger: rest.ledger.map((entry) => ({ ...entry, period_start: time.of(entry.period_start) })),
    term: termAt(termSchedule(subscription), unit, period.start),
    ends_at: ends_at === null ? null : time.of(servedUntil(subscription, input, ends_at)),
  });
  const { start, end } = position.term;
  return { ...position, term: { start: time.back(start), end: time.back(end) } };
}

/**
 * Until when time counts in the last term: until the end, or until the start of a pause in which the period closes with
 * it (12.8). On a calendar a pause counts unless it covers the whole period (12.4).
 */
function servedUntil(
  { billing_cycle }: SubscriptionRow,
  { pauses, closes_at, period }: Pick<TermTime, 'pauses' | 'closes_at'> & { period: Period },
  end: string,
): string {
  if (closes_at !== end) return end;
  if (billing_cycle === 'calendar' && !isPausedThroughout(period, pauses)) return end;
  return pauseAtEnd({ start: end, end }, pauses)?.start ?? end;
}

/** Terms keep the anchor that the subscription had before its plan changes (billing 14.2). */
const termSchedule = (subscription: SubscriptionRow) => ({
  ...subscription,
  billing_anchor: longTermSchedule(subscription).billing_anchor,
});

/** When the subscription ends, if that is known by now. */
export function endOf({ end_date, cancel_at }: SubscriptionRow): string | null {
  if (end_date === null || cancel_at === null) return end_date ?? cancel_at;
  return earlierOf(end_date, cancel_at);
}

/**
 * When the subscription ends, as it was known when a period was closed: an end that becomes known later changes no
 * commitment of the period (billing 6.4). `stored` is the usage that the closed period counts against commitments.
 */
export function endAtClose(
  subscription: SubscriptionRow,
  stored: readonly CommittedUsage[],
): string | null {
  const closed = stored.find(
    ({ subscription_id, ends_at }) => subscription_id === subscription.id && ends_at !== undefined,
  );
  return closed?.ends_at === undefined ? endOf(subscription) : closed.ends_at;
}

/** What a row of a term adds to the ledger; nothing for other rows. */
export function termUsage({ kind, period, explanation }: RatedLine): {
  readonly period_start: string;
  readonly base_usage: string;
}[] {
  if (kind !== 'base') return [];
  return explanation.steps.flatMap((step) => {
    if (step.step === 'sum')
      return step.parts.flatMap((part) =>
        part.steps.flatMap((inner) => entryOf(inner, part.period)),
      );
    return entryOf(step, period);
  });
}

function entryOf(
  step: RatedLine['explanation']['steps'][number],
  { start }: Period,
): { period_start: string; base_usage: string }[] {
  if (step.step !== 'term_commitment') return [];
  return [{ period_start: start, base_usage: decimalText(decimal(step.usage)) }];
}
