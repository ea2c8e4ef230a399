import type { ExplanationStepOf } from '../../schemas/explanation.ts';
import { shareText, shortInstant, spanText } from './span-text.ts';
import { textTable, type StepText } from './text-table.ts';

export function poolText({ amounts, index, amount }: ExplanationStepOf<'pool'>): StepText {
  const rows = amounts.map((own, place) => [
    `row ${place + 1}${place === index ? ', this one' : ''}`,
    own,
  ]);
  return {
    title: 'Usage of all rows together',
    lines: textTable([['', 'charge'], ...rows, ['total', amount]]),
  };
}

export function commitmentText(step: ExplanationStepOf<'commitment'>): StepText {
  const terms = `factor ${step.overage_factor}, true-up ${step.true_up_enabled ? 'on' : 'off'}`;
  const quantity =
    step.quantity_rating === null
      ? []
      : [`${step.promised} units are worth ${step.quantity_rating.amount}`];
  const share =
    step.share === null
      ? []
      : [`${step.promised} × ${shareText(step.share.part_ms, step.share.whole_ms)}`];
  const heading = ['', 'usage', 'commitment', 'utilized', 'overage', 'true-up', '= amount'];
  const windows = (step.windows ?? []).map((window) => [
    window.share === null
      ? shortInstant(window.start)
      : `${shortInstant(window.start)} × ${shareText(window.share.part_ms, window.share.whole_ms)}`,
    ...outcomeCells(window),
  ]);
  const omitted =
    step.omitted === null ? [] : [[`${step.omitted.count} more`, ...outcomeCells(step.omitted)]];
  return {
    title: `Commitment, ${terms}`,
    lines: [
      ...quantity,
      ...share,
      ...textTable([heading, ...windows, ...omitted, ['total', ...outcomeCells(step)]]),
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

const outcomeCells = (outcome: Outcome): string[] => [
  outcome.usage,
  outcome.commitment,
  outcome.utilized,
  outcome.overage,
  outcome.true_up,
  outcome.amount,
];

export function termText(step: ExplanationStepOf<'term_commitment'>): StepText {
  const trueUp = step.true_up_enabled ? 'on' : 'off';
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
    title: `Commitment for ${spanText(step.term)}, factor ${step.overage_factor}, true-up ${trueUp}${last}`,
    lines: textTable([heading, [step.prior_usage, ...outcomeCells(step)]]),
  };
}

export function allocationText(step: ExplanationStepOf<'share'>): StepText {
  const own = step.weights[step.index]!;
  const place = `row ${step.index + 1} of ${step.weights.length}`;
  return {
    title: 'Share',
    lines: [`${step.of} over ${step.weights.join(' : ')}; ${place}, ${own} = ${step.amount}`],
  };
}

export function roundingText(step: ExplanationStepOf<'rounding'>): StepText {
  const { unrounded, currency, decimals, parts, bills, amount } = step;
  const title = `Rounding to ${decimals} decimals of ${currency}`;
  if (parts === null) return { title, lines: [`${unrounded} = ${amount}`] };
  return {
    title,
    lines: [
      `${unrounded} = ${parts.charge}`,
      ...textTable([
        ['utilized', '+ overage', '+ true-up', '= charge'],
        [parts.utilized, parts.overage, parts.true_up, parts.charge],
      ]),
      ...(bills === 'charge' ? [] : [`this row bills ${bills.replace('_', '-')}: ${amount}`]),
    ],
  };
}
