import { ZERO } from '../../../domain/money.ts';
import type { UsageAnswers, UsageRow } from '../../../domain/metering/usage.ts';
import type { Charge } from '../../../domain/subscription/charges.ts';
import { commitmentTerms } from '../../../domain/pricing/commitment.ts';
import {
  commitmentAsMoney,
  type CommitmentWindow,
} from '../../../domain/pricing/line-commitment.ts';
import { groupLines } from '../../../domain/pricing/line-grouping.ts';
import { rateFixedLine } from '../../../domain/pricing/rate-fixed-line.ts';
import { rateUsageLine } from '../../../domain/pricing/rate-usage-line.ts';
import type { RatedLine } from '../../../domain/pricing/rated-line.ts';
import { commitmentWindows } from '../../../domain/pricing/usage-measure.ts';
import { commitmentReach } from '../../../domain/pricing/validate-commitment.ts';
import type { Period } from '../../../domain/time/instant.ts';
import type { PausedTime } from '../../../domain/time/paused-cells.ts';
import type { QuotaShare } from '../../../domain/pricing/quota-share.ts';
import type { AllowanceShare } from '../../../domain/pricing/allowance.ts';
import { byText } from '../../../domain/text-order.ts';
import { groupBy } from '../../../domain/group-by.ts';
import { shareAllowances } from './allowances.ts';
import type { BilledLine } from './billing-sources.ts';
import type { InvoiceTarget } from './invoice-target.ts';
import { ratedRows, type LineQuestion } from './line-questions.ts';
import { shareMeterQuotas } from './quotas.ts';
import { termLedgers, type CommittedUsage, type TermLedger, type TermTime } from './term-ledger.ts';

/** One charge and the question that rates it; none for a fixed charge. */
export interface QuestionedCharge {
  readonly charge: Charge<BilledLine>;
  readonly questions: readonly LineQuestion[];
}

export interface RatedCharge {
  readonly line: BilledLine;
  readonly rated: RatedLine;
  /** The questions whose answers rated it. */
  readonly questions: readonly LineQuestion[];
}

/** The subscription whose charges are rated, and how cut periods are charged. */
export interface RatedFor
  extends Pick<InvoiceTarget, 'subscription' | 'proration_behavior'>, TermTime {
  /** Usage that earlier periods counted against commitments of several periods. */
  readonly earlier: readonly CommittedUsage[];
  /** Windows of a commitment that begin later do not count yet (billing 6.2); null means all count. */
  readonly until: string | null;
}

/**
 * Rates the charges of one invoice, in order. With per_billing_period the cells of a line become one row, the
 * sum of the rounded amounts (billing 3.3).
 */
export function rateCharges(
  context: RatedFor,
  charges: readonly QuestionedCharge[],
  answers: UsageAnswers['answers'],
): RatedCharge[] {
  const claimants = charges.flatMap(({ charge, questions }) =>
    questions.map((question) => ({
      ...question,
      rows: ratedRows(question, answers),
      meter_id: charge.line.meter_id!,
    })),
  );
  const shares = shareAllowances(claimants, answers);
  const quotas = shareMeterQuotas(claimants, answers);
  const ledgerOf = termLedgers(context.earlier);
  const rows = new Map<QuestionedCharge, readonly RatedLine[]>();
  // In order of time: what an earlier line of the price used counts in the term of the line that follows it.
  const ordered = charges.toSorted((left, right) => byText(startOf(left), startOf(right)));
  for (const charge of ordered) {
    const ledger = ledgerOf(charge.charge.line);
    const rated = rateCharge(context, charge, { answers, shares, quotas, ledger });
    ledger.note(rated);
    rows.set(charge, rated);
  }
  const byLine = groupBy(charges, ({ charge }) => charge.line);
  return [...byLine].flatMap(([line, ofLine]) => {
    const rated = ofLine.flatMap((charge) => rows.get(charge)!);
    const questions = ofLine.flatMap((charge) => charge.questions);
    return groupLines(rated, context.subscription.line_item_grouping).map((row) => ({
      line,
      rated: row,
      questions: questions.filter(({ cell }) => isWithin(cell.service, row.period)),
    }));
  });
}

const startOf = ({ charge: { cell } }: QuestionedCharge): string =>
  'at' in cell ? cell.at : cell.service.start;

const isWithin = (inner: Period, outer: Period): boolean =>
  inner.start >= outer.start && inner.end <= outer.end;

interface Measurements {
  readonly answers: UsageAnswers['answers'];
  readonly shares: ReadonlyMap<string, AllowanceShare>;
  readonly quotas: ReadonlyMap<string, QuotaShare>;
  readonly ledger: TermLedger;
}

function rateCharge(
  context: RatedFor,
  { charge, questions }: QuestionedCharge,
  { answers, shares, quotas, ledger }: Measurements,
): readonly RatedLine[] {
  const { subscription, proration_behavior } = context;
  const { line, cell } = charge;
  if (line.price_type === 'FIXED')
    return [
      rateFixedLine({ price: line.terms, quantity: line.quantity, cell, proration_behavior }),
    ];
  const [question] = questions;
  if ('at' in cell || question === undefined) return [];
  const { query, measured } = question;
  const rows = ratedRows(question, answers);
  const usage = {
    price: line.terms,
    aggregation: query.aggregation,
    bucket_size: query.window?.bucket_size ?? null,
    timezone: subscription.customer_timezone,
    rows,
    cell,
    proration_behavior,
    allowance: shares.get(query.key) ?? null,
    quota: quotas.get(query.key) ?? null,
  };
  const terms = commitmentTerms(line);
  if (terms === null) return rateUsageLine({ ...usage, line });

  const reach = commitmentReach(terms, line);
  const windows = reach === 'windows' ? commitmentWindows(measured) : null;
  if (windows !== null) {
    const commitment = {
      scope: 'windows',
      windows: begun(windows, rows, context.until),
    } as const;
    return rateUsageLine({ ...usage, line, commitment });
  }
  const position =
    reach === 'term'
      ? ledger.position(context, line, commitmentAsMoney(terms, line.terms.model), cell)
      : null;
  const commitment =
    position === null ? ({ scope: 'period' } as const) : ({ scope: 'term', position } as const);
  return rateUsageLine({ ...usage, line: { ...line, commitment_windowed: false }, commitment });
}

/** The windows that count by now: those that have begun, and those with usage. */
function begun(
  windows: readonly CommitmentWindow[],
  rows: readonly UsageRow[],
  until: string | null,
): readonly CommitmentWindow[] {
  if (until === null) return windows;
  const used = new Set(rows.map(({ window_start }) => window_start));
  return windows.filter(({ grid, service }) => service.start < until || used.has(grid.start));
}

/**
 * The rows of a trial's opening preview: the future charges at 0, with the trial as the service, one row per
 * line (billing 10.4).
 */
export function waiveForTrial(rated: readonly RatedCharge[], trial: Period): RatedCharge[] {
  const first = new Map(rated.toReversed().map((charge) => [charge.line, charge]));
  const shown = rated.filter((charge) => first.get(charge.line) === charge);
  return shown.map(({ line, rated: row }) => ({
    line,
    questions: [],
    rated: {
      ...row,
      period: trial,
      amount: ZERO,
      unrounded: ZERO,
      commitment_info: null,
      explanation: {
        ...row.explanation,
        period: trial,
        amount: '0',
        steps: [{ step: 'trial', rule: 'billing 10.4', trial, amount: '0' }],
      },
    },
  }));
}
