import * as z from 'zod';
import type { ApiRecord } from '../../client/api.ts';
import { CreateMeterBody } from '../../../schemas/meter.ts';
import { positiveDecimal } from '../../../schemas/primitives.ts';

/** The form of a meter: the body of the API, with its filters as text, one per line: `region = eu, us`. */
export const MeterForm = CreateMeterBody.extend({
  aggregation: CreateMeterBody.shape.aggregation.extend({
    multiplier: positiveDecimal.or(z.literal('')),
  }),
  filters: z.string().refine((text) => linesOf(text).every((line) => line.includes('=')), {
    message: 'needs an = between the property and its values, on each line',
  }),
});
export type MeterForm = z.input<typeof MeterForm>;

export const NEW_METER: MeterForm = {
  name: '',
  event_name: '',
  aggregation: {
    type: 'COUNT',
    field: '',
    expression: '',
    group_by: '',
    multiplier: '',
    bucket_size: '',
  },
  filters: '',
  reset_usage: 'BILLING_PERIOD',
};

const partsOf = (text: string, separator: string): string[] =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '');

const linesOf = (text: string): string[] => partsOf(text, '\n');

/** The form of a change: the same, with the day from which periods are billed by the new version. */
export const EditMeterForm = MeterForm.extend({ effective_day: z.string() });
export type EditMeterForm = z.input<typeof EditMeterForm>;

/** The form of a saved meter. Its filters are not repeated: the API adds the values that are sent. */
export function formOf({
  name,
  event_name,
  aggregation,
  reset_usage,
}: ApiRecord<'Meter'>): EditMeterForm {
  const { type, field, expression, group_by, multiplier, bucket_size } = aggregation;
  return {
    name,
    event_name,
    aggregation: {
      type,
      field: field ?? '',
      expression: expression ?? '',
      group_by: group_by ?? '',
      multiplier: multiplier ?? '',
      bucket_size: bucket_size ?? '',
    },
    filters: '',
    reset_usage,
    effective_day: '',
  };
}

export type MeterBody = z.input<typeof CreateMeterBody>;

/** The body of the API for a form: empty fields are unset. */
export function bodyOf({ aggregation, filters, ...form }: MeterForm): MeterBody {
  const { type, ...options } = aggregation;
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== ''));
  return {
    ...form,
    aggregation: { type, ...given },
    filters: linesOf(filters).map((line) => {
      const at = line.indexOf('=');
      return { key: line.slice(0, at).trim(), values: partsOf(line.slice(at + 1), ',') };
    }),
  };
}

/** Whether the server could evaluate it: everything but a count needs a property or an expression. */
export function isComplete(body: z.input<typeof CreateMeterBody>): boolean {
  const { type, field, expression } = body.aggregation;
  const hasValue = type === 'COUNT' || Boolean(field) || Boolean(expression);
  return hasValue && CreateMeterBody.safeParse(body).success;
}
