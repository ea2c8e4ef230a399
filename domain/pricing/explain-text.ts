import type {
  Explanation,
  ExplanationStep,
  ExplanationStepOf,
  LineStep,
} from '../../schemas/explanation.ts';
import { minorDigits } from '../currency.ts';
import {
  allocationText,
  commitmentText,
  poolText,
  roundingText,
  termText,
} from './commitment-text.ts';
import { digitsOfSteps, figuresOf, inWords, type Figures, type Reader } from './figures.ts';
import { allowanceText, quantityText, quotaText, rateText, usageText } from './rating-text.ts';
import { settlementTable } from './settlement-text.ts';
import { shareText } from './span-text.ts';
import { indented, stepLines, textLines, type StepText } from './text-table.ts';

/**
 * An explanation as readable text: a heading, then the steps in the order of the computation, each with its
 * rule and its figures in aligned columns. Figures are rounded for the reader and marked (`figures.ts`); dates
 * are in the reader's zone. The row's part of a tax and its net payable amount are the only figures that are
 * not stored with the row.
 */
export function explainText(explanation: Explanation, reader: Reader = {}): string {
  const { kind, currency, amount, quantity, period } = explanation;
  const { money, number, span } = figuresOf(minorDigits(currency), reader);
  const zone = (reader.timezone ?? 'UTC') === 'UTC' ? '' : ` (${reader.timezone})`;
  const steps = describeAll(explanation, reader);
  const settlement = onTheInvoice(explanation, reader);
  const lines = [
    `${inWords(kind)}: ${currency.toUpperCase()} ${money(amount)} for ${number(quantity)} ${quantity === '1' ? 'unit' : 'units'}, ${span(period)}${zone}`,
    ...steps.flatMap((step, index) => ['', ...stepLines({ ...step, number: `${index + 1}.` })]),
    ...settlement.flatMap(({ title, body }) => ['', title, ...textLines(body).map(indented)]),
  ];
  return `${lines.join('\n')}\n`;
}

/** A step of an explanation as text, with the rule that decides it; null where each line names its own. */
export interface ExplainedStep extends StepText {
  readonly rule: string | null;
  /** Currency of the amounts of the step; null for a step without amounts, or whose amounts name their own. */
  readonly currency: string | null;
}

/** The steps of `explainText` one by one, for readers that lay them out themselves. */
export const explainedSteps = (explanation: Explanation, reader: Reader = {}): ExplainedStep[] => [
  ...describeAll(explanation, reader),
  ...onTheInvoice(explanation, reader),
];

function describeAll(
  { steps, currency }: Explanation,
  reader: Reader,
): (ExplainedStep & { readonly rule: string })[] {
  const digits = digitsOfSteps(steps as readonly LineStep[], currency);
  const converted = steps.findLastIndex(({ step }) => step === 'conversion');
  const conversion = steps[converted];
  const first = conversion?.step === 'conversion' ? conversion.from_currency : currency;
  return steps.map((step, index) => ({
    ...describe(step, figuresOf(digits[index]!, reader), currency, reader),
    rule: step.rule,
    currency: WITHOUT_AMOUNTS.has(step.step) ? null : index < converted ? first : currency,
  }));
}

/** Steps about quantities, and the conversion, which names both of its currencies. */
const WITHOUT_AMOUNTS: ReadonlySet<ExplanationStep['step']> = new Set([
  'usage', 'quantity', 'allowance', 'quota', 'conversion',
]); // prettier-ignore

/** What the invoice did with the row: coupons, credits, taxes, and what is left to pay for it. */
function onTheInvoice(explanation: Explanation, reader: Reader): ExplainedStep[] {
  const { settlement = [], currency } = explanation;
  if (settlement.length === 0) return [];
  const table = settlementTable(explanation.amount, settlement, currency, reader);
  return [{ title: 'On the invoice', body: [table], rule: null, currency }];
}

function describe(
  step: ExplanationStep,
  figures: Figures,
  currency: string,
  reader: Reader,
): StepText {
  const { money, span } = figures;
  switch (step.step) {
    case 'usage':
      return usageText(step, figures);
    case 'quantity':
      return quantityText(step, figures);
    case 'allowance':
      return allowanceText(step, figures);
    case 'quota':
      return quotaText(step, figures);
    case 'rate':
      return rateText(step, figures);
    case 'pool':
      return poolText(step, figures);
    case 'commitment':
      return commitmentText(step, figures);
    case 'term_commitment':
      return termText(step, figures);
    case 'share':
      return allocationText(step, figures);
    case 'proration':
      return prorationText(step, figures);
    case 'net':
      return {
        title: 'Less discounts',
        body: [
          `${money(step.of)} × ${money(step.billed)} / ${money(step.gross)} = ${money(step.amount)}`,
        ],
      };
    case 'credit':
      return creditText(step, figures);
    case 'conversion':
      return conversionText(step, figures, reader);
    case 'rounding':
      return roundingText(step, figures);
    case 'trial':
      return { title: `Trial ${span(step.trial)}`, body: [`free = ${money(step.amount)}`] };
    case 'sum':
      return sumText(step, figures, currency, reader);
    default:
      return step satisfies never;
  }
}

function prorationText(step: ExplanationStepOf<'proration'>, { money, span }: Figures): StepText {
  return {
    title: 'Proration',
    body: [
      {
        facts: [
          ['charged', span(step.slice)],
          ['of', span(step.reference)],
        ],
      },
      `${money(step.of)} × ${shareText(step.slice_ms, step.reference_ms)} = ${money(step.amount)}`,
    ],
  };
}

function creditText(step: ExplanationStepOf<'credit'>, { money }: Figures): StepText {
  return {
    title: 'Credit',
    body: [
      {
        rows: [
          ['wanted', 'billed', 'credited before', '= amount'],
          [step.potential, step.billed, step.credited_before, step.amount].map(money),
        ],
      },
      `the lesser of ${money(step.potential)} and ${money(step.billed)} − ${money(step.credited_before)}`,
    ],
  };
}

function conversionText(
  step: ExplanationStepOf<'conversion'>,
  { money, number }: Figures,
  reader: Reader,
): StepText {
  const { from_currency, to_currency, decimals } = step;
  const to = figuresOf(decimals, reader);
  return {
    title: 'Conversion',
    body: [
      `${money(step.from_amount)} ${from_currency.toUpperCase()} × ${number(step.factor)} = ${to.money(step.unrounded)}, to ${decimals} decimals = ${to.money(step.amount)} ${to_currency.toUpperCase()}`,
    ],
  };
}

function sumText(
  step: ExplanationStepOf<'sum'>,
  { money, number, span }: Figures,
  currency: string,
  reader: Reader,
): StepText {
  const heading = ['charge period', 'quantity', 'amount'];
  const rows = step.parts.map((part) => [
    span(part.period),
    number(part.quantity),
    money(part.amount),
  ]);
  const parts = step.parts.map((part, index) => {
    const digits = digitsOfSteps(part.steps, currency);
    return {
      heading: `${index + 1}: ${span(part.period)}`,
      steps: part.steps.map((inner, place) => ({
        ...describe(inner, figuresOf(digits[place]!, reader), currency, reader),
        number: `${index + 1}.${place + 1}`,
        rule: inner.rule,
      })),
    };
  });
  const total = ['total', number(step.quantity), money(step.amount)];
  return {
    title: 'Sum of the charge periods',
    body: [{ rows: [heading, ...rows, total] }, ...parts],
  };
}
