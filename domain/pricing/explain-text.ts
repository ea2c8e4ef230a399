import type {
  Explanation,
  ExplanationStep,
  ExplanationStepOf,
  SettlementStep,
} from '../../schemas/explanation.ts';
import {
  allocationText,
  commitmentText,
  poolText,
  roundingText,
  termText,
} from './commitment-text.ts';
import { allowanceText, quantityText, rateText, usageText } from './rating-text.ts';
import { shareText, spanText } from './span-text.ts';
import { textTable, type StepText } from './text-table.ts';

/**
 * An explanation as readable text: a heading, then the steps in the order of the computation, each with its
 * rule and its figures in aligned columns. Prints stored figures only; computes nothing.
 */
export function explainText(explanation: Explanation): string {
  const { kind, currency, amount, quantity, period } = explanation;
  const lines = [
    `${kind}: ${currency} ${amount} for ${quantity} ${quantity === '1' ? 'unit' : 'units'}, ${spanText(period)}`,
    ...explanation.steps.flatMap((step, index) => ['', ...stepText(step, `${index + 1}.`)]),
    ...settlementText(explanation.settlement ?? []),
  ];
  return `${lines.join('\n')}\n`;
}

/** A step of an explanation as text, with the rule that decides it; null where each line names its own. */
export interface ExplainedStep extends StepText {
  readonly rule: string | null;
}

/** The steps of `explainText` one by one, for readers that lay them out themselves. */
export function explainedSteps(explanation: Explanation): ExplainedStep[] {
  const settlement = explanation.settlement ?? [];
  return [
    ...explanation.steps.map((step) => ({ ...describe(step), rule: step.rule })),
    ...(settlement.length === 0
      ? []
      : [{ title: ON_THE_INVOICE, lines: settlementTable(settlement), rule: null }]),
  ];
}

function stepText(step: ExplanationStep, number: string): string[] {
  const { title, lines } = describe(step);
  return [`${number} ${title} (${step.rule})`, ...lines.map(indented)];
}

function describe(step: ExplanationStep): StepText {
  switch (step.step) {
    case 'usage':
      return usageText(step);
    case 'quantity':
      return quantityText(step);
    case 'allowance':
      return allowanceText(step);
    case 'rate':
      return rateText(step);
    case 'pool':
      return poolText(step);
    case 'commitment':
      return commitmentText(step);
    case 'term_commitment':
      return termText(step);
    case 'share':
      return allocationText(step);
    case 'proration':
      return prorationText(step);
    case 'net':
      return {
        title: 'Less discounts',
        lines: [`${step.of} × ${step.billed} / ${step.gross} = ${step.amount}`],
      };
    case 'credit':
      return creditText(step);
    case 'conversion':
      return conversionText(step);
    case 'rounding':
      return roundingText(step);
    case 'trial':
      return { title: `Trial ${spanText(step.trial)}`, lines: [`free = ${step.amount}`] };
    case 'sum':
      return sumText(step);
    default:
      return step satisfies never;
  }
}

function prorationText(step: ExplanationStepOf<'proration'>): StepText {
  return {
    title: 'Proration',
    lines: [
      `charged  ${spanText(step.slice)}`,
      `of       ${spanText(step.reference)}`,
      `${step.of} × ${shareText(step.slice_ms, step.reference_ms)} = ${step.amount}`,
    ],
  };
}

function creditText(step: ExplanationStepOf<'credit'>): StepText {
  return {
    title: 'Credit',
    lines: textTable([
      ['wanted', 'billed', 'credited before', '= amount'],
      [step.potential, step.billed, step.credited_before, step.amount],
    ]),
  };
}

function conversionText(step: ExplanationStepOf<'conversion'>): StepText {
  const { from_currency, from_amount, factor, to_currency, unrounded, decimals, amount } = step;
  return {
    title: 'Conversion',
    lines: [
      `${from_amount} ${from_currency} × ${factor} = ${unrounded}, to ${decimals} decimals = ${amount} ${to_currency}`,
    ],
  };
}

function sumText(step: ExplanationStepOf<'sum'>): StepText {
  const heading = ['charge period', 'quantity', 'amount'];
  const rows = step.parts.map((part) => [spanText(part.period), part.quantity, part.amount]);
  const parts = step.parts.flatMap((part, index) => [
    '',
    `${index + 1}: ${spanText(part.period)}`,
    ...part.steps.flatMap((inner, place) =>
      stepText(inner, `${index + 1}.${place + 1}`).map(indented),
    ),
  ]);
  return {
    title: 'Sum of the charge periods',
    lines: [...textTable([heading, ...rows, ['total', step.quantity, step.amount]]), ...parts],
  };
}

/** What the invoice deducts from the row (before, deduction, after), then its taxes. */
function settlementText(steps: readonly SettlementStep[]): string[] {
  if (steps.length === 0) return [];
  return ['', ON_THE_INVOICE, ...settlementTable(steps).map(indented)];
}

const ON_THE_INVOICE = 'On the invoice';

function settlementTable(steps: readonly SettlementStep[]): string[] {
  const rows = steps.map((step) => {
    switch (step.step) {
      case 'discount':
        return [`coupon ${step.coupon_id}`, step.before, step.amount, step.after, step.rule];
      case 'prepaid_credit':
        return [`wallet ${step.wallet_id}`, step.before, step.amount, step.after, step.rule];
      case 'tax':
        return [
          `${step.percentage_value}% ${step.tax_behavior} tax ${step.tax_rate_id} on all rows`,
          step.taxable_amount,
          step.tax_amount,
          '',
          step.rule,
        ];
      default:
        return step satisfies never;
    }
  });
  return textTable([['', 'of', 'amount', 'leaves', 'rule'], ...rows]);
}

const indented = (line: string): string => (line === '' ? '' : `   ${line}`);
