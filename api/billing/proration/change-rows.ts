import {
  billedWindow,
  creditedTax,
  type BilledWindow,
  type TaxCurrency,
} from '../../../domain/pricing/credit.ts';
import { Decimal, decimal, sum, ZERO } from '../../../domain/money.ts';
import {
  creditedServices,
  type CreditedService,
} from '../../../domain/invoicing/credited-service.ts';
import { changeRows } from '../../../domain/pricing/line-change.ts';
import { groupLines } from '../../../domain/pricing/line-grouping.ts';
import type { ProrationBehavior } from '../../../domain/pricing/proration.ts';
import { rateFixedLine } from '../../../domain/pricing/rate-fixed-line.ts';
import type { RatedLine } from '../../../domain/pricing/rated-line.ts';
import { intersection } from '../../../domain/time/instant.ts';
import type { PausedTime } from '../../../domain/time/paused-cells.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { BilledLine } from '../computing/billing-sources.ts';
import type { SettledRow } from '../records/subscription-change-repository.ts';
import { groupBy } from '../../../domain/group-by.ts';
import { billedRowsOf } from './billed-rows.ts';
import { mostBilled } from './credited-customer.ts';
import { servedCells } from './line-cells.ts';
import {
  earlierPauses,
  gainedCells,
  isBilledAsServed,
  lostCells,
  type Resumption,
} from './resumed-cells.ts';

/** One line that an operation ends, begins or replaces, each as it is stored before or after it. */
export interface LineSwap {
  /** Null means the line is added. With its dates before the operation. */
  readonly before: BilledLine | null;
  /** Null means the line is removed. */
  readonly after: BilledLine | null;
  readonly effective_at: string;
  /** The old line is credited until then and goes on after it: a pause. Absent: until the end of the period. */
  readonly until?: string | null;
}

/** What an operation changes in the running period. */
export interface ChangeOperation {
  /** The subscription before the operation, with its uncut running period. */
  readonly subscription: SubscriptionRow;
  readonly swaps: readonly LineSwap[];
  readonly proration_behavior: ProrationBehavior;
  /**
   * The subscription after an operation that ends its period and begins a new one: the new lines pay the advances of
   * the new period (billing 14.2). Absent: the period goes on.
   */
  readonly restarted?: SubscriptionRow | null;
  /**
   * A resumption that made the running period longer; `subscription` is that before it. The same lines are charged what
   * they serve more than before the pause, and credited what they serve less (billing 12.4).
   */
  readonly resumed?: Resumption;
}

/** A row of an operation, with the line that it charges or credits. */
export interface ChangedRow {
  readonly swap: number;
  readonly line: BilledLine;
  readonly rated: RatedLine;
  /** The billed amount of the credited service; null for a charge. */
  readonly billed: BilledWindow | null;
  /** The customer who was billed most of the credited service; null for a charge, and if it is on no invoice. */
  readonly billed_to: string | null;
  /** Exclusive tax that is refunded with a credit, in the currency of the line; zero for a charge. */
  readonly returnedTax: Decimal;
}

/**
 * The rows that an operation charges and credits now (billing 5.2, 5.3). For fixed fees in advance: a credit
 * for the unserved part of the cells that the old line paid, and a charge for the part that the new line
 * serves. A due one-time fee of an added line is charged in full (billing 3.1). A resumption leaves lines alone that
 * changed without prorations.
 */
export function rowsOfChange(
  operation: ChangeOperation,
  settled: readonly SettledRow[],
  { pauses, taxCurrencyOf }: ChangeTerms,
  at: string,
): ChangedRow[] {
  const paused = { ...operation, pauses, taxCurrencyOf, notedBeyond: notedBeyond(settled) };
  const byLine = groupBy(settled, ({ subscription_line_item_id }) => subscription_line_item_id);
  const rowsOf = ({ id }: BilledLine) => byLine.get(id) ?? [];
  const swaps = [...operation.swaps.entries()].filter(([, { before }]) => {
    const { resumed } = operation;
    if (resumed === undefined || before === null) return true;
    return isBilledAsServed(resumed, before, pauses, rowsOf(before));
  });
  return swaps.flatMap(([index, swap]) => [
    ...(swap.before === null ? [] : credits(paused, index, swap, swap.before, rowsOf(swap.before))),
    ...(swap.after === null ? [] : charges(paused, index, swap, swap.after, at)),
  ]);
}

export interface ChangeTerms {
  /** Those of the subscription: the running period may be longer by them (billing 12.4). */
  readonly pauses: readonly PausedTime[];
  /** The currency in which the tax on a line is rounded: that of its invoices. */
  readonly taxCurrencyOf: (line: BilledLine) => TaxCurrency;
}

interface PausedOperation extends ChangeOperation, ChangeTerms {
  readonly notedBeyond: NotedBeyond;
}

/** The part of an amount of a line item's service that notes have credited on rows of the services it replaced. */
type NotedBeyond = (line: BilledLine, at: string, left: Decimal) => Decimal;

/** Each noted amount is taken once. */
function notedBeyond(settled: readonly SettledRow[]): NotedBeyond {
  const serviceAt = creditedServices(settled);
  const taken = new Map<string, Decimal>();
  return ({ id }, at, left) => {
    const service: CreditedService | null = serviceAt(id, at);
    if (service === null || left.lte(0)) return ZERO;
    const before = taken.get(service.key) ?? ZERO;
    const part = Decimal.min(service.beyond.minus(before), left);
    taken.set(service.key, before.plus(part));
    return part;
  };
}

function credits(
  operation: PausedOperation,
  swap: number,
  { effective_at, until = null }: LineSwap,
  line: BilledLine,
  ofLine: readonly SettledRow[],
): ChangedRow[] {
  if (line.billing_period === 'ONETIME') return [];
  const { subscription, resumed, pauses } = operation;
  const known = resumed === undefined ? pauses : earlierPauses(resumed, pauses);
  const cells =
    resumed === undefined
      ? servedCells(subscription, line, pauses)
      : lostCells(resumed, line, pauses);
  const rowsOf = billedRowsOf(subscription, line, known, ofLine);
  return cells.flatMap((cell) => {
    const service = intersection(cell.service, cell.service.start, until);
    if (service === null) return [];
    const rows = rowsOf(cell);
    const window = billedWindow(rows);
    const left = window.billed.minus(window.credited);
    const beyond = operation.notedBeyond(line, service.start, left);
    const billed = { ...window, credited: window.credited.plus(beyond) };
    const tax = taxOf(rows);
    // A note settles the tax on the amount that it credits.
    const taxBeyond = beyond.isZero() ? ZERO : tax.charged.times(beyond).div(window.billed);
    return changeRows({
      ...common(operation, effective_at, line),
      before: { price: line.terms, quantity: line.quantity },
      after: null,
      cells: [{ ...cell, service, billed }],
    })
      .filter(({ amount }) => !amount.isZero())
      .map((rated) => ({
        swap,
        line,
        rated,
        billed,
        billed_to: mostBilled(rows),
        returnedTax: creditedTax(
          rated.amount.neg(),
          billed,
          { charged: tax.charged, credited: tax.credited.plus(taxBeyond) },
          operation.taxCurrencyOf(line),
        ),
      }));
  });
}

function taxOf(rows: readonly SettledRow[]) {
  const live = rows.filter(({ invoice_status }) => invoice_status !== 'VOIDED');
  const taxes = (credit: boolean) =>
    sum(live.filter(({ kind }) => (kind === 'credit') === credit).map(({ tax }) => decimal(tax)));
  return { charged: taxes(false), credited: taxes(true).neg() };
}

function charges(
  operation: PausedOperation,
  swap: number,
  { effective_at }: LineSwap,
  line: BilledLine,
  at: string,
): ChangedRow[] {
  const charge = (rated: RatedLine): ChangedRow => ({
    swap,
    line,
    rated,
    billed: null,
    billed_to: null,
    returnedTax: ZERO,
  });
  if (line.billing_period === 'ONETIME') {
    const isDue =
      line.price_type === 'FIXED' &&
      line.invoice_cadence === 'ADVANCE' &&
      line.start_date >= operation.subscription.current_period_start &&
      line.start_date <= at;
    if (!isDue) return [];
    return [
      charge(
        rateFixedLine({
          price: line.terms,
          quantity: line.quantity,
          cell: { at: line.start_date },
          proration_behavior: 'none',
        }),
      ),
    ];
  }
  if (operation.restarted)
    return advancesOf(operation.restarted, line, operation.proration_behavior).map(charge);
  return changeRows({
    ...common(operation, effective_at, line),
    before: null,
    after: { price: line.terms, quantity: line.quantity },
    cells: operation.resumed
      ? gainedCells(operation.resumed, line, operation.pauses)
      : servedCells(operation.subscription, line, operation.pauses),
  }).map(charge);
}

/** The advances of a new period of the subscription, as its opening invoice would bill them (billing 3.1). */
function advancesOf(
  subscription: SubscriptionRow,
  line: BilledLine,
  proration_behavior: ProrationBehavior,
): readonly RatedLine[] {
  if (line.price_type !== 'FIXED' || line.invoice_cadence !== 'ADVANCE') return [];
  const rows = servedCells(subscription, line, []).map((cell) =>
    rateFixedLine({ price: line.terms, quantity: line.quantity, cell, proration_behavior }),
  );
  return groupLines(rows, subscription.line_item_grouping);
}

const common = (operation: ChangeOperation, effective_at: string, line: BilledLine) => ({
  invoice_cadence: line.invoice_cadence,
  effective_at,
  proration_behavior: operation.proration_behavior,
  currency: line.currency,
});

/** The first instant at which the operation changes something. */
export const startOfChange = ({ swaps, subscription }: ChangeOperation): string =>
  swaps
    .map(({ effective_at }) => effective_at)
    .reduce((left, right) => (left < right ? left : right), subscription.current_period_end);
