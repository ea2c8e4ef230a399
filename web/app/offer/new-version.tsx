import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useFieldArray, useWatch } from 'react-hook-form';
import * as z from 'zod';
import { Allowed } from '../person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { FieldRow, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { formatCurrency, formatDecimal, formatMoney } from '../../ui/text.ts';
import { notify } from '../../ui/toasts.tsx';
import type { Priced } from './offer.ts';
import { VersionEffect } from './version-effect.tsx';

const DECIMAL = /^\d{1,20}(\.\d{1,18})?$/;
const decimalText = z.string().trim().regex(DECIMAL, 'must be a number, for example 0.05');

const Body = z.object({
  amount: z.string(),
  tiers: z.array(
    z.object({ unit_amount: decimalText, flat_amount: decimalText.or(z.literal('')) }),
  ),
  day: z.iso.date('choose a day').or(z.literal('')),
});

type Values = z.infer<typeof Body>;

/** Other amounts for a price from a day on. The version before ends there; invoices of earlier days stay. */
export function NewVersion({
  price,
  kind,
  onDone,
}: {
  readonly price: ApiRecord<'Price'>;
  readonly kind: Priced['kind'];
  readonly onDone: () => void;
}) {
  const queries = useQueryClient();
  const isTiered = price.billing_model === 'TIERED';
  const tiers = price.tiers ?? [];
  const currency = formatCurrency(price.currency);
  const schema = isTiered ? Body : Body.extend({ amount: decimalText });
  const form = useApiForm(schema, {
    amount: price.amount,
    tiers: tiers.map(({ unit_amount, flat_amount }) => ({
      unit_amount,
      flat_amount: flat_amount ?? '',
    })),
    day: '',
  });
  const { control } = form;
  const { fields } = useFieldArray({ control, name: 'tiers' });
  const [today] = useState(() => new Date().toISOString().slice(0, 10));
  const values = useWatch({ control }) as Values;
  const { day } = values;
  const bodyOf = (given: Values) => ({
    ...(isTiered
      ? {
          tiers: given.tiers.map(({ unit_amount, flat_amount }, index) => ({
            up_to: tiers[index]!.up_to,
            unit_amount: unit_amount.trim(),
            ...(flat_amount === '' ? {} : { flat_amount: flat_amount.trim() }),
          })),
        }
      : { amount: given.amount.trim() }),
    ...(given.day === '' ? {} : { effective_from: `${given.day}T00:00:00Z` }),
  });
  const isValid = schema.safeParse(values).success;
  return (
    <Form
      form={form}
      isWide
      submit="Create version"
      onSubmit={async (given) => {
        await answerOf(
          api.PUT('/prices/{id}', {
            params: { path: { id: price.id } },
            body: bodyOf(given) as never,
          }),
        );
        notify('Version created');
        await queries.invalidateQueries();
        onDone();
      }}
    >
      {isTiered ? (
        fields.map((field, index) => (
          <FieldRow key={field.id}>
            <TextField
              control={control}
              name={`tiers.${index}.unit_amount`}
              label={`Unit price in ${currency}, ${rangeOf(tiers, index)}`}
              kind="decimal"
              isRequired
            />
            <TextField
              control={control}
              name={`tiers.${index}.flat_amount`}
              label={`Flat fee in ${currency}`}
              kind="decimal"
            />
          </FieldRow>
        ))
      ) : (
        <TextField
          control={control}
          name="amount"
          label={`${price.billing_model === 'PACKAGE' ? 'Package price' : 'Amount'} in ${currency}`}
          hint={`Now ${formatMoney(price.amount, price.currency)}.`}
          kind="decimal"
          isRequired
        />
      )}
      <TextField
        control={control}
        name="day"
        label="Applies from"
        kind="date"
        hint="Midnight, UTC. Empty: from now on."
      />
      {kind === 'cost sheet' ? (
        <p>Usage before the new version keeps the cost of the current one.</p>
      ) : (
        <p>
          {day === '' || day <= today
            ? 'New subscriptions get the new version.'
            : 'Subscriptions that begin before this day get the current version, and the new version from this day on.'}{' '}
          {kind === 'plan'
            ? 'Existing subscriptions keep their prices until you update them on the plan.'
            : 'Existing subscriptions keep their prices.'}
        </p>
      )}
      {kind === 'plan' ? (
        <Allowed to="subscription:read">
          <VersionEffect priceId={price.id} body={isValid ? bodyOf(values) : null} />
        </Allowed>
      ) : null}
    </Form>
  );
}

const rangeOf = (tiers: readonly { readonly up_to: number | null }[], index: number): string => {
  const above = index === 0 ? '0' : formatDecimal(String(tiers[index - 1]!.up_to ?? 0));
  const upTo = tiers[index]!.up_to;
  return upTo === null ? `above ${above}` : `from ${above} to ${formatDecimal(String(upTo))}`;
};
