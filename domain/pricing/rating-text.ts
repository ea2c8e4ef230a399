import type {
  ExplainedModel,
  ExplainedRating,
  ExplanationStepOf,
} from '../../schemas/explanation.ts';
import { inWords, type Figures } from './figures.ts';
import { shareText } from './span-text.ts';
import type { StepText } from './text-table.ts';

export function usageText(step: ExplanationStepOf<'usage'>, figures: Figures): StepText {
  const { aggregation, event_count, windows } = step;
  const quantity = figures.number(step.quantity);
  const events = `${inWords(aggregation)} of ${counted(figures.number(String(event_count)), 'event')}`;
  if (windows === null) return { title: 'Usage', body: [`${events} = ${quantity}`] };
  const { with_usage, bucket_size, timezone } = windows;
  const where = `${counted(figures.number(String(with_usage)), 'window')} of one ${inWords(bucket_size)} (${timezone})`;
  return { title: 'Usage', body: [`${events} in ${where}, added up = ${quantity}`] };
}

export function quantityText(
  { quantity, min_quantity }: ExplanationStepOf<'quantity'>,
  { number }: Figures,
): StepText {
  const minimum = min_quantity === null ? '' : ` (minimum ${number(min_quantity)})`;
  return { title: 'Quantity', body: [`${number(quantity)}${minimum}`] };
}

export function allowanceText(
  step: ExplanationStepOf<'allowance'>,
  { number, span, instant }: Figures,
): StepText {
  const heading = ['reset window', 'from', 'limit', 'used before', 'usage', 'free', 'billable'];
  // The column is left out if every claim begins with its window.
  const later = step.windows.some(({ at, start }) => at !== start);
  if (!later) heading[1] = '';
  const rows = step.windows.map((window) => [
    span(window),
    later ? instant(window.at) : '',
    window.limit === null ? 'unlimited' : number(window.limit),
    number(window.used_before),
    number(window.usage),
    number(window.free),
    number(window.billable),
  ]);
  const omitted =
    step.omitted === null
      ? []
      : [
          [
            `${step.omitted.count} more`,
            '',
            '',
            '',
            '',
            number(step.omitted.free),
            number(step.omitted.billable),
          ],
        ];
  const total = ['total', '', '', '', '', number(step.free), number(step.billable)];
  return {
    title: `Allowance, resets ${inWords(step.usage_reset_period)}`,
    body: [...prorationText(step, number), { rows: [heading, ...rows, ...omitted, total] }],
  };
}

/** `limit: 20,000 × 24 / 31 days in whole units, and 500 of the subscription = 15,984`. */
function prorationText(
  { proration }: ExplanationStepOf<'allowance'>,
  number: Figures['number'],
): string[] {
  if (proration === undefined) return [];
  const { whole, own, part_ms, whole_ms, limit } = proration;
  const added = own === '0' ? '' : `, and ${number(own)} of the subscription`;
  const share = shareText(part_ms, whole_ms);
  return [`limit: ${number(whole)} × ${share} in whole units${added} = ${number(limit)}`];
}

export function quotaText(
  step: ExplanationStepOf<'quota'>,
  { number, span, instant }: Figures,
): StepText {
  const heading = ['window', 'quota', 'used', 'beyond', 'used up at'];
  const rows = step.windows.map((window) => [
    span(window),
    number(window.quota),
    number(window.used),
    number(window.over),
    window.exhausted_at === null ? '' : instant(window.exhausted_at),
  ]);
  const { omitted } = step;
  const rest =
    omitted === null ? [] : [[`${omitted.count} more`, '', '', number(omitted.over), '']];
  const outside = step.outside === '0' ? '' : `, of it ${number(step.outside)} in no window`;
  return {
    title: 'Quotas',
    body: [
      { rows: [heading, ...rows, ...rest] },
      `included ${number(step.free)}, billable ${number(step.billable)}${outside}`,
    ],
  };
}

export function rateText(step: ExplanationStepOf<'rate'>, figures: Figures): StepText {
  return { title: modelTitle(step.model, figures), body: [{ rows: rateRows(step, figures) }] };
}

function modelTitle(model: ExplainedModel, { price, number }: Figures): string {
  switch (model.billing_model) {
    case 'FLAT_FEE':
      return `Price, ${price(model.unit_amount)} for each unit`;
    case 'PACKAGE':
      return `Price, ${price(model.package_amount)} for each package of ${number(model.divide_by)}, rounded ${model.round}`;
    case 'TIERED':
      return model.tier_mode === 'SLAB'
        ? 'Price, graduated tiers: each unit at the rate of its tier'
        : 'Price, volume tiers: all units at the rate of one tier';
    default:
      return model satisfies never;
  }
}

/** The label column is empty, and therefore left out, if the period is rated as a whole. */
function rateRows(step: ExplanationStepOf<'rate'>, figures: Figures): string[][] {
  const { model, ratings, omitted } = step;
  const { money, number, price } = figures;
  const [quantity, amount] = [number(step.quantity), money(step.amount)];
  const rest =
    omitted === null ? null : ([number(omitted.quantity), money(omitted.amount)] as const);
  const labelOf = (rating: ExplainedRating) => ratingLabel(rating, figures);
  const windowed = ratings.some((rating) => rating.window_start !== null);
  const window = windowed ? 'window' : '';
  const more = `${omitted?.count} more`;

  if (model.billing_model === 'TIERED') {
    const rows = ratings.flatMap((rating) => tierRows(rating, labelOf(rating), figures));
    return [
      [window, 'tier', 'above', 'up to', 'units', '× unit', '+ flat', '= amount'],
      ...rows,
      ...(rest === null ? [] : [[more, '', '', '', rest[0], '', '', rest[1]]]),
      ...(rows.length === 1 ? [] : [['total', '', '', '', quantity, '', '', amount]]),
    ];
  }
  const packages = model.billing_model === 'PACKAGE';
  const unit = price(packages ? model.package_amount : model.unit_amount);
  const heading = packages ? ['packages', '× package'] : ['', '× unit'];
  return [
    [window, 'units', ...heading, '= amount'],
    ...ratings.map((rating) => [
      labelOf(rating),
      number(rating.quantity),
      rating.packages === null ? '' : number(rating.packages),
      unit,
      money(rating.amount),
    ]),
    ...(rest === null ? [] : [[more, rest[0], '', '', rest[1]]]),
    ...(windowed ? [['total', quantity, '', '', amount]] : []),
  ];
}

const ratingLabel = ({ window_start, group }: ExplainedRating, { instant }: Figures): string =>
  [...(window_start === null ? [] : [instant(window_start)]), ...group].join(' · ');

function tierRows(
  { tiers, quantity, amount }: ExplainedRating,
  label: string,
  { money, number, price }: Figures,
): string[][] {
  if (tiers === null || tiers.length === 0) {
    return [[label, '', '', '', number(quantity), '', '', money(amount)]];
  }
  return tiers.map((tier, index) => [
    index === 0 ? label : '',
    String(tier.tier),
    number(tier.above),
    tier.up_to === null ? 'open' : number(tier.up_to),
    number(tier.quantity),
    price(tier.unit_amount),
    price(tier.flat_amount),
    money(tier.amount),
  ]);
}

const counted = (count: string, noun: string): string =>
  `${count} ${noun}${count === '1' ? '' : 's'}`;
