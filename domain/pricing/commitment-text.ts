import type { ExplanationStepOf } from '../../schemas/explanation.ts';
import { decimal, Decimal, decimalText } from '../money.ts';
import { figuresOf, type Figures } from './figures.ts';
import { shareText } from './span-text.ts';
import type { StepText } from './text-table.ts';

export function poolText(
  { amounts, index, amount }: ExplanationStepOf<'pool'>,
  { money }: Figures,
): StepText {
  const rows = amounts.map((own, place) => [
    `row ${place + 1}${place === index ? ', this one' : ''}`,
    money(own),
  ]);
  return {
    title: 'Usage of all rows together',
    body: [{ rows: [['', 'charge'], ...rows, ['total', money(amount)]] }],
  };
}

export function commitmentText(step: ExplanationStepOf<'commitment'>, figures: Figures): StepText {
  const { money, number, instant } = figures;
  const promised = step.type === 'amount' ? money(step.promised) : `${number(step.promised)} units`;
  const quantity =
    step.quantity_rating === null
      ? []
      : [`${promised} are worth ${money(step.quantity_rating.amount)}`];
  const share =
    step.share === null
      ? []
      : [`${promised} × ${shareText(step.share.part_ms, step.share.whole_ms)}`];
  const heading = ['', 'usage', 'commitment', 'utilized', 'overage', 'true-up', '= amount'];
  const cells = (outcome: Outcome) => outcomeCells(outcome, figures);
  const windows = (step.windows ?? []).map((window) => [
    window.share === null
      ? instant(window.start)
      : `${instant(window.start)} × ${shareText(window.share.part_ms, window.share.whole_ms)}`,
    ...cells(window),
  ]);
  const omitted =
    step.omitted === null ? [] : [[`${step.omitted.count} more`, ...cells(step.omitted)]];
  const formulas =
    step.windows === null
      ? formulasOf(step, step.overage_factor, '', figures)
      : step.windows.flatMap((window) =>
          formulasOf(window, step.overage_factor, `${instant(window.start)}: `, figures),
        );
  return {
    title: `Commitment of ${promised}, ${termsText(step, figures)}`,
    body: [
      ...quantity,
      ...share,
      { rows: [heading, ...windows, ...omitted, ['total', ...cells(step)]] },
      ...formulas,
    ],
  };
}

interface Outcome {
  readonly usage: string;
  readonly commitment: string;
  readonly utilized: string;
  readonly overage: string;
  readonly true_up: string;
  readonly amount: string;
}

const outcomeCells = (outcome: Outcome, { money }: Figures): string[] => [
  money(outcome.usage),
  money(outcome.commitment),
  money(outcome.utilized),
  money(outcome.overage),
  money(outcome.true_up),
  money(outcome.amount),
];

const termsText = (
  terms: { readonly overage_factor: string; readonly true_up_enabled: boolean },
  { number }: Figures,
): string =>
  `factor ${number(terms.overage_factor)}, true-up ${terms.true_up_enabled ? 'on' : 'off'}`;

/**
 * How overage and true-up came about: `overage = (450.05 − 232.26) × 1.5 = 326.685`. Left out if the stored
 * figures do not have this relation.
 */
function formulasOf(
  outcome: Outcome & { readonly prior_usage?: string },
  factor: string,
  label: string,
  { money, number }: Figures,
): string[] {
  const used = decimal(outcome.prior_usage ?? '0');
  const rest = Decimal.max(decimal(outcome.commitment).minus(used), 0);
  const usage = decimal(outcome.usage);
  const left =
    used.isZero() || rest.isZero()
      ? money(decimalText(rest))
      : `(${money(outcome.commitment)} − ${money(decimalText(used))})`;
  const above = rest.isZero() ? money(outcome.usage) : `(${money(outcome.usage)} − ${left})`;
  const overage = decimal(outcome.overage);
  const trueUp = decimal(outcome.true_up);
  return [
    ...(overage.gt(0) && usage.minus(rest).times(decimal(factor)).equals(overage)
      ? [`${label}overage = ${above} × ${number(factor)} = ${money(outcome.overage)}`]
      : []),
    ...(trueUp.gt(0) && rest.minus(usage).equals(trueUp)
      ? [`${label}true-up = ${left} − ${money(outcome.usage)} = ${money(outcome.true_up)}`]
      : []),
  ];
}

export function termText(step: ExplanationStepOf<'term_commitment'>, figures: Figures): StepText {
  const { money, span } = figures;
  const last = step.last_period_of_term ? ', the last period of the term' : '';
  const heading = [
    'used before',
    'usage',
    'commitment',
    'within',
    'overage',
    'true-up',
    '= amount',
  ];
  return {
    title: `Commitment of ${money(step.commitment)} for ${span(step.term)}, ${termsText(step, figures)}${last}`,
    body: [
      { rows: [heading, [money(step.prior_usage), ...outcomeCells(step, figures)]] },
      ...formulasOf(step, step.overage_factor, '', figures),
    ],
  };
}

export function allocationText(step: ExplanationStepOf<'share'>, { money }: Figures): StepText {
  const own = step.weights[step.index]!;
  const place = `row ${step.index + 1} of ${step.weights.length}`;
  return {
    title: 'Share',
    body: [
      `${money(step.of)} over ${step.weights.map(money).join(' : ')}; ${place}, ${money(own)} = ${money(step.amount)}`,
    ],
  };
}

export function roundingText(step: ExplanationStepOf<'rounding'>, figures: Figures): StepText {
  const { currency, decimals, parts, bills } = step;
  const title = `Rounding to ${decimals} decimals of ${currency.toUpperCase()}`;
  const { money } = figuresOf(decimals, {});
  const unrounded = figures.money(step.unrounded);
  const rounded = (amount: string) =>
    decimal(amount).equals(decimal(step.unrounded))
      ? `${unrounded} = ${money(amount)}`
      : `${unrounded}, to ${decimals} decimals = ${money(amount)}`;
  if (parts === null) return { title, body: [rounded(step.amount)] };
  return {
    title,
    body: [
      rounded(parts.charge),
      {
        rows: [
          ['utilized', '+ overage', '+ true-up', '= charge'],
          [parts.utilized, parts.overage, parts.true_up, parts.charge].map(money),
        ],
      },
      ...(bills === 'charge'
        ? []
        : [`this row bills ${bills.replace('_', '-')}: ${money(step.amount)}`]),
    ],
  };
}
