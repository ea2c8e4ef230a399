import { useQuery } from '@tanstack/react-query';
import { Plus, Trash2 } from 'lucide-react';
import { useFieldArray, type Control } from 'react-hook-form';
import * as z from 'zod';
import { CouponField } from '../../app/billing/coupon-field.tsx';
import { midnight } from '../../app/range.ts';
import { answerOf, api } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { FieldRow, SelectField, TextField } from '../../ui/fields.tsx';
import { Row, Stack } from '../../ui/page.tsx';

/** A stretch of time with other terms: a coupon, or another amount for one price. */
export const PhaseFields = z
  .object({
    day: z.iso.date('choose a day'),
    coupon_id: z.string(),
    price_id: z.string(),
    amount: z
      .string()
      .trim()
      .regex(/^(\d{1,20}(\.\d{1,18})?)?$/, 'must be a number, for example 49.90'),
  })
  .refine(({ price_id, amount }) => (price_id === '') === (amount === ''), {
    path: ['amount'],
    message: 'choose a price and write its amount, or neither',
  });
export type PhaseFields = z.output<typeof PhaseFields>;

interface WithPhases {
  plan_id: string;
  phases: PhaseFields[];
}

/** Phases after the first: each begins on a day and ends where the next one begins. */
export function Phases<Fields extends WithPhases>({
  control: given,
  planId,
}: {
  readonly control: Control<Fields>;
  readonly planId: string;
}) {
  const control = given as unknown as Control<WithPhases>;
  const { fields, append, remove } = useFieldArray({ control, name: 'phases' });
  const plan = useQuery({
    queryKey: ['plan', planId],
    enabled: planId !== '' && fields.length > 0,
    queryFn: ({ signal }) =>
      answerOf(api.GET('/plans/{id}', { params: { path: { id: planId } }, signal })),
  });
  const prices = (plan.data?.prices ?? [])
    .filter(({ billing_model }) => billing_model === 'FLAT_FEE')
    .map(
      ({ id, display_name, meter, type }) =>
        [id, display_name ?? meter?.name ?? (type === 'FIXED' ? 'Fixed fee' : 'Usage')] as const,
    );
  return (
    <Stack>
      {fields.map((field, index) => (
        <div key={field.id} role="group" aria-label={`Phase ${index + 2}`}>
          <FieldRow>
            <TextField
              control={control}
              name={`phases.${index}.day`}
              label={`Phase ${index + 2} begins on`}
              kind="date"
              isRequired
            />
            <CouponField control={control} name={`phases.${index}.coupon_id`} by="id" />
          </FieldRow>
          <FieldRow>
            <SelectField
              control={control}
              name={`phases.${index}.price_id`}
              label="Override price of"
              choices={[['', 'No price'], ...prices]}
            />
            <TextField
              control={control}
              name={`phases.${index}.amount`}
              label="Amount"
              kind="decimal"
            />
          </FieldRow>
          <Row>
            <Button
              small
              tone="quiet"
              icon={<Trash2 size={14} aria-hidden />}
              onPress={() => remove(index)}
            >
              Remove phase {index + 2}
            </Button>
          </Row>
        </div>
      ))}
      <Row>
        <Button
          small
          icon={<Plus size={14} aria-hidden />}
          onPress={() => append({ day: '', coupon_id: '', price_id: '', amount: '' })}
        >
          {fields.length === 0 ? 'Add a phase with other terms' : 'Add a phase'}
        </Button>
      </Row>
    </Stack>
  );
}

/**
 * The phases as the API takes them: the first one from the start, each to the beginning of the next. Days begin
 * at midnight of the customer's zone.
 */
export function phasesOf(startDay: string, phases: readonly PhaseFields[], zone: string) {
  if (phases.length === 0) return {};
  const all = [{ day: startDay, coupon_id: '', price_id: '', amount: '' }, ...phases];
  return {
    phases: all.map(({ day, coupon_id, price_id, amount }, index) => ({
      start_date: midnight(day, zone),
      ...(index + 1 < all.length ? { end_date: midnight(all[index + 1]!.day, zone) } : {}),
      ...(coupon_id === '' ? {} : { coupons: [coupon_id] }),
      ...(price_id === '' ? {} : { override_line_items: [{ price_id, amount }] }),
    })),
  };
}
