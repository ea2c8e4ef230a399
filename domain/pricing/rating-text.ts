import type {
  ExplainedModel,
  ExplainedRating,
  ExplanationStepOf,
} from '../../schemas/explanation.ts';
import { shortInstant, spanText } from './span-text.ts';
import { textTable, type StepText } from './text-table.ts';

export function usageText(step: ExplanationStepOf<'usage'>): StepText {
  const { aggregation, event_count, quantity, windows } = step;
  const events = `${aggregation} of ${counted(event_count, 'event')}`;
  if (windows === null) return { title: 'Usage', lines: [`${events} = ${quantity}`] };
  const { with_usage, bucket_size, timezone } = windows;
  const where = `${counted(with_usage, 'window')} of one ${bucket_size} (${timezone})`;
  return { title: 'Usage', lines: [`${events} in ${where}, added up = ${quantity}`] };
}

export function quantityText({ quantity, min_quantity }: ExplanationStepOf<'quantity'>): StepText {
  const minimum = min_quantity === null ? '' : ` (minimum ${min_quantity})`;
  return { title: 'Quantity', lines: [`${quantity}${minimum}`] };
}

export function allowanceText(step: ExplanationStepOf<'allowance'>): StepText {
  const heading = ['reset window', 'from', 'limit', 'used before', 'usage', 'free', 'billable'];
  // The column is left out if every claim begins with its window.
  const later = step.windows.some(({ at, start }) => at !== start);
  if (!later) heading[1] = '';
  const rows = step.windows.map((window) => [
    spanText(window),
    later ? shortInstant(window.at) : '',
    window.limit ?? 'unlimited',
    window.used_before,
    window.usage,
    window.free,
    window.billable,
  ]);
  const omitted =
    step.omitted === null
      ? []
      : [[`${step.omitted.count} more`, '', '', '', '', step.omitted.free, step.omitted.billable]];
  const total = ['total', '', '', '', '', step.free, step.billable];
  return {
    title: `Allowance, resets ${step.usage_reset_period}`,
    lines: textTable([heading, ...rows, ...omitted, total]),
  };
}

export function rateText(step: ExplanationStepOf<'rate'>): StepText {
  return { title: modelTitle(step.model), lines: textTable(rateRows(step)) };
}

function modelTitle(model: ExplainedModel): string {
  switch (model.billing_model) {
    case 'FLAT_FEE':
      return `Price, ${model.unit_amount} for each unit`;
    case 'PACKAGE':
      return `Price, ${model.package_amount} for each package of ${model.divide_by}, rounded ${model.round}`;
    case 'TIERED':
      return model.tier_mode === 'SLAB'
        ? 'Price, tiered SLAB: each unit at the rate of its tier'
        : 'Price, tiered VOLUME: all units at the rate of one tier';
    default:
      return model satisfies never;
  }
}

/** The label column is empty, and therefore left out, if the period is rated as a whole. */
function rateRows(step: ExplanationStepOf<'rate'>): string[][] {
  const { model, ratings, omitted, quantity, amount } = step;
  const windowed = ratings.some((rating) => rating.window_start !== null);
  const window = windowed ? 'window' : '';
  const more = `${omitted?.count} more`;

  if (model.billing_model === 'TIERED') {
    const rows = ratings.flatMap((rating) => tierRows(rating, labelOf(rating)));
    return [
      [window, 'tier', 'above', 'up to', 'units', '× unit', '+ flat', '= amount'],
      ...rows,
      ...(omitted === null ? [] : [[more, '', '', '', omitted.quantity, '', '', omitted.amount]]),
      ...(rows.length === 1 ? [] : [['total', '', '', '', quantity, '', '', amount]]),
    ];
  }
  const packages = model.billing_model === 'PACKAGE';
  const unit = packages ? model.package_amount : model.unit_amount;
  const heading = packages ? ['packages', '× package'] : ['', '× unit'];
  return [
    [window, 'units', ...heading, '= amount'],
    ...ratings.map((rating) => [
      labelOf(rating),
      rating.quantity,
      rating.packages ?? '',
      unit,
      rating.amount,
    ]),
    ...(omitted === null ? [] : [[more, omitted.quantity, '', '', omitted.amount]]),
    ...(windowed ? [['total', quantity, '', '', amount]] : []),
  ];
}

const labelOf = ({ window_start, group }: ExplainedRating): string =>
  [window_start === null ? '' : shortInstant(window_start), ...group].join(' ').trim();

function tierRows({ tiers, quantity, amount }: ExplainedRating, label: string): string[][] {
  if (tiers === null || tiers.length === 0) {
    return [[label, '', '', '', quantity, '', '', amount]];
  }
  return tiers.map((tier, index) => [
    index === 0 ? label : '',
    String(tier.tier),
    tier.above,
    tier.up_to ?? 'open',
    tier.quantity,
    tier.unit_amount,
    tier.flat_amount,
    tier.amount,
  ]);
}

const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;
