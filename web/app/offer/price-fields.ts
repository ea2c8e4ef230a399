import * as z from 'zod';
import { typed } from '../billing/amounts.ts';
import {
  BILLING_MODELS,
  BILLING_PERIODS,
  INVOICE_CADENCES,
  PACKAGE_ROUNDS,
  PRICE_TYPES,
  TIER_MODES,
} from '../../../schemas/words.ts';
import type { UnsavedPrice } from './calculator.tsx';

/** The fields of the editor: all models at once, as text. */
const Fields = z.object({
  display_name: z.string().min(1, 'is required').max(255),
  type: z.enum(PRICE_TYPES),
  meter_id: z.string(),
  billing_model: z.enum(BILLING_MODELS),
  amount: z.string(),
  divide_by: z.string(),
  round: z.enum(PACKAGE_ROUNDS),
  tier_mode: z.enum(TIER_MODES),
  tiers: z.array(z.object({ up_to: z.string(), unit_amount: z.string(), flat_amount: z.string() })),
  currency: z.string().min(1, 'is required'),
  billing_period: z.enum(BILLING_PERIODS),
  invoice_cadence: z.enum(INVOICE_CADENCES),
  /** Empty: in no group. */
  group_id: z.string(),
});

/** What the chosen model needs. The server checks what is sent of it. */
export const PriceFields = Fields.superRefine((fields, context) => {
  for (const missing of missingIn(fields)) context.addIssue({ code: 'custom', ...missing });
});
export type PriceFields = z.output<typeof PriceFields>;

export const NEW_PRICE: PriceFields = {
  display_name: '',
  type: 'USAGE',
  meter_id: '',
  billing_model: 'TIERED',
  amount: '',
  divide_by: '1000',
  round: 'up',
  tier_mode: 'SLAB',
  tiers: [
    { up_to: '100', unit_amount: '', flat_amount: '' },
    { up_to: '', unit_amount: '', flat_amount: '' },
  ],
  currency: 'USD',
  billing_period: 'MONTHLY',
  invoice_cadence: 'ARREAR',
  group_id: '',
};

const NUMBER = 'enter a number, for example 0.05';

interface Missing {
  readonly path: (string | number)[];
  readonly message: string;
}

/** Fields of the chosen model without a value that it can be computed with. */
function missingIn(fields: z.output<typeof Fields>): Missing[] {
  const { type, meter_id } = fields;
  const amounts = amountsOf(fields).filter(({ text }) => typed(text) === null);
  return [
    ...(type === 'USAGE' && meter_id === ''
      ? [{ path: ['meter_id'], message: 'choose a meter' }]
      : []),
    ...amounts.map(({ path }) => ({ path, message: NUMBER })),
  ];
}

/** The numbers that the chosen model needs. */
function amountsOf({
  billing_model,
  amount,
  divide_by,
  tiers,
}: z.output<typeof Fields>): { path: (string | number)[]; text: string }[] {
  switch (billing_model) {
    case 'FLAT_FEE':
      return [{ path: ['amount'], text: amount }];
    case 'PACKAGE':
      return [
        { path: ['amount'], text: amount },
        { path: ['divide_by'], text: divide_by },
      ];
    case 'TIERED':
      return tiers.flatMap(({ up_to, unit_amount }, index) => [
        // The last tier has no end.
        ...(index === tiers.length - 1 ? [] : [{ path: ['tiers', index, 'up_to'], text: up_to }]),
        { path: ['tiers', index, 'unit_amount'], text: unit_amount },
      ]);
    default:
      return billing_model satisfies never;
  }
}

/** Whether every amount of the chosen model is written, so that a quantity can be rated. */
export const isComplete = (fields: PriceFields): boolean =>
  missingIn({ ...fields, type: 'FIXED' }).length === 0;

/** The request: only what belongs to the chosen model. Tier ends and package sizes are whole numbers. */
export function priceOf(fields: PriceFields): UnsavedPrice {
  const { type, billing_model, billing_period, invoice_cadence } = fields;
  const common = {
    type,
    billing_model,
    billing_period,
    invoice_cadence,
    billing_period_count: 1,
    currency: fields.currency.trim(),
    display_name: fields.display_name,
    price_unit_type: 'FIAT' as const,
    ...(type === 'USAGE' ? { meter_id: fields.meter_id } : {}),
    ...(fields.group_id === '' ? {} : { group_id: fields.group_id }),
  };
  switch (billing_model) {
    case 'FLAT_FEE':
      return { ...common, amount: fields.amount.trim() };
    case 'PACKAGE':
      return {
        ...common,
        amount: fields.amount.trim(),
        transform_quantity: { divide_by: Number(fields.divide_by), round: fields.round },
      };
    case 'TIERED':
      return {
        ...common,
        tier_mode: fields.tier_mode,
        tiers: fields.tiers.map(({ up_to, unit_amount, flat_amount }) => ({
          up_to: up_to.trim() === '' ? null : Number(up_to),
          unit_amount: unit_amount.trim(),
          ...(flat_amount.trim() === '' ? {} : { flat_amount: flat_amount.trim() }),
        })),
      };
    default:
      return billing_model satisfies never;
  }
}
