import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useWatch } from 'react-hook-form';
import * as z from 'zod';
import { answerOf, api } from '../../client/api.ts';
import { FieldRow, SelectField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { notify } from '../../ui/toasts.tsx';
import { COUPON_CADENCES, COUPON_TYPES } from '../../../schemas/words.ts';

const wholeNumber = z
  .string()
  .trim()
  .regex(/^\d{0,9}$/, 'must be a whole number, for example 3');

/** Which values fit together is checked by the server. */
const Body = z.object({
  name: z.string().trim().min(1, 'is required').max(255),
  coupon_code: z.string().max(255),
  type: z.enum(COUPON_TYPES),
  percentage_off: z.string().trim(),
  amount_off: z.string().trim(),
  currency: z.string().trim(),
  cadence: z.enum(COUPON_CADENCES),
  duration_in_periods: wholeNumber,
  max_redemptions: wholeNumber,
  redeem_after: z.string(),
  redeem_before: z.string(),
});
type Written = z.output<typeof Body>;

/** Creates a coupon. Its terms stay as they are created. */
export function NewCoupon() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const form = useApiForm(Body, {
    ...{ name: '', coupon_code: '', type: 'percentage', percentage_off: '', amount_off: '' },
    ...{ currency: 'USD', cadence: 'once', duration_in_periods: '3', max_redemptions: '' },
    ...{ redeem_after: '', redeem_before: '' },
  });
  const { control } = form;
  const [type, cadence] = useWatch({ control, name: ['type', 'cadence'] });
  return (
    <Form
      form={form}
      submit="Create coupon"
      onSubmit={async (written) => {
        const { id } = await answerOf(api.POST('/coupons', { body: bodyOf(written) }));
        notify('Coupon created');
        await queries.invalidateQueries();
        await navigate({ to: `/coupons/${id}` });
      }}
    >
      <TextField control={control} name="name" label="Name" isRequired autoFocus />
      <TextField
        control={control}
        name="coupon_code"
        label="Code"
        hint="What a buyer types, in any letter case. A running subscription is given a coupon by its code."
      />
      <FieldRow>
        <SelectField
          control={control}
          name="type"
          label="Discount"
          isRequired
          choices={[
            ['percentage', 'A percentage'],
            ['fixed', 'A fixed amount'],
          ]}
        />
        {type === 'percentage' ? (
          <TextField
            control={control}
            name="percentage_off"
            label="Percentage"
            placeholder="20"
            kind="decimal"
            isRequired
          />
        ) : (
          <>
            <TextField
              control={control}
              name="amount_off"
              label="Amount"
              placeholder="10"
              kind="decimal"
              isRequired
            />
            <TextField
              control={control}
              name="currency"
              label="Currency"
              kind="currency"
              isRequired
            />
          </>
        )}
      </FieldRow>
      <FieldRow>
        <SelectField
          control={control}
          name="cadence"
          label="Duration"
          isRequired
          choices={[
            ['once', 'Once'],
            ['repeated', 'For some periods'],
            ['forever', 'Each period'],
          ]}
        />
        {cadence === 'repeated' ? (
          <TextField
            control={control}
            name="duration_in_periods"
            label="Periods"
            kind="decimal"
            isRequired
          />
        ) : null}
      </FieldRow>
      <TextField
        control={control}
        name="max_redemptions"
        label="Redemption limit"
        hint="How many subscriptions and invoices may have it. Empty means without a limit."
        kind="decimal"
      />
      <FieldRow>
        <TextField
          control={control}
          name="redeem_after"
          label="Redeemable from"
          hint="Midnight UTC."
          kind="date"
        />
        <TextField
          control={control}
          name="redeem_before"
          label="Redeemable before"
          hint="Midnight UTC."
          kind="date"
        />
      </FieldRow>
    </Form>
  );
}

/** Only what the choices show is sent; the terms of the other type are refused. */
function bodyOf(written: Written) {
  const { name, type, cadence, coupon_code } = written;
  return {
    ...{ name, type, cadence, coupon_code },
    ...(type === 'percentage'
      ? { percentage_off: written.percentage_off }
      : { amount_off: written.amount_off, currency: written.currency }),
    ...(cadence === 'repeated'
      ? { duration_in_periods: numberOf(written.duration_in_periods) }
      : {}),
    max_redemptions: numberOf(written.max_redemptions),
    redeem_after: midnightOf(written.redeem_after),
    redeem_before: midnightOf(written.redeem_before),
  };
}

const numberOf = (text: string): number | null => (text.trim() === '' ? null : Number(text));
const midnightOf = (day: string): string | null => (day === '' ? null : `${day}T00:00:00Z`);
