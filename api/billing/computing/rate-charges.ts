import { ZERO } from '../../../domain/money.ts';
import type { UsageAnswers } from '../../../domain/metering/usage.ts';
import type { Charge } from '../../../domain/subscription/charges.ts';
import { commitmentTerms } from '../../../domain/pricing/commitment.ts';
import { groupLines } from '../../../domain/pricing/line-grouping.ts';
import { rateFixedLine } from '../../../domain/pricing/rate-fixed-line.ts';
import { rateUsageLine } from '../../../domain/pricing/rate-usage-line.ts';
import type { RatedLine } from '../../../domain/pricing/rated-line.ts';
import { commitStretches } from '../../../domain/pricing/stretched-commitment.ts';
import type { Period } from '../../../domain/time/instant.ts';
import type { AllowanceShare } from '../../../domain/pricing/allowance.ts';
import { groupBy } from '../../conventions/group-by.ts';
import { shareAllowances } from './allowances.ts';
import type { BilledLine } from './billing-sources.ts';
import type { InvoiceTarget } from './invoice-target.ts';
import type { LineQuestion } from './line-questions.ts';

/** One charge and the questions that rate it; no questions for a fixed charge. */
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
export type RatedFor = Pick<InvoiceTarget, 'subscription' | 'proration_behavior'>;

/**
 * Rates the charges of one invoice, in order. With per_billing_period the cells of a line become one row, the
 * sum of the rounded amounts (billing 3.3).
 */
export function rateCharges(
  { subscription, proration_behavior }: RatedFor,
  charges: readonly QuestionedCharge[],
  answers: UsageAnswers['answers'],
): RatedCharge[] {
  const claimants = charges.flatMap(({ charge, questions }) =>
    questions.map((question) => ({ ...question, meter_id: charge.line.meter_id! })),
  );
  const shares = shareAllowances(claimants, answers);
  const byLine = groupBy(charges, ({ charge }) => charge.line);
  return [...byLine].flatMap(([line, ofLine]) => {
    const rated = ofLine.flatMap((charge) =>
      rateCharge({ subscription, proration_behavior }, charge, answers, shares),
    );
    const questions = ofLine.flatMap((charge) => charge.questions);
    return groupLines(rated, subscription.line_item_grouping).map((row) => ({
      line,
      rated: row,
      questions: questions.filter(({ cell }) => isWithin(cell.service, row.period)),
    }));
  });
}

const isWithin = (inner: Period, outer: Period): boolean =>
  inner.start >= outer.start && inner.end <= outer.end;

function rateCharge(
  { subscription, proration_behavior }: RatedFor,
  { charge, questions }: QuestionedCharge,
  answers: UsageAnswers['answers'],
  shares: ReadonlyMap<string, AllowanceShare>,
): readonly RatedLine[] {
  const { line, cell } = charge;
  if (line.price_type === 'FIXED')
    return [
      rateFixedLine({ price: line.terms, quantity: line.quantity, cell, proration_behavior }),
    ];
  const terms = commitmentTerms(line);
  const isStretched = terms !== null && questions.length > 1;
  const rated = questions.flatMap(({ query, cell: stretch }) =>
    rateUsageLine({
      line: isStretched ? {} : line,
      price: line.terms,
      aggregation: query.aggregation,
      bucket_size: query.window?.bucket_size ?? null,
      timezone: subscription.customer_timezone,
      rows: answers.get(query.key)!.rows,
      cell: stretch,
      proration_behavior,
      allowance: shares.get(query.key) ?? null,
    }),
  );
  if (!isStretched || 'at' in cell) return rated;
  return [commitStretches(rated, terms, line.terms, cell, proration_behavior)];
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
