import { useState } from 'react';
import { useWatch } from 'react-hook-form';
import * as z from 'zod';
import { ZERO } from '../../../domain/money.ts';
import { priceOfCredits, sumOf, typed } from '../../app/billing/amounts.ts';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Facts } from '../../ui/facts.tsx';
import { SelectField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Money, Quantity } from '../../ui/money.tsx';
import { formatMoney } from '../../ui/text.ts';

const REASONS = [
  'PURCHASED_CREDIT_INVOICED',
  'PURCHASED_CREDIT_DIRECT',
  'FREE_CREDIT_GRANT',
] as const;

const OUTCOMES: Readonly<Record<(typeof REASONS)[number], string>> = {
  PURCHASED_CREDIT_INVOICED: 'An invoice is issued; the credits are there once it is paid.',
  PURCHASED_CREDIT_DIRECT: 'The credits are there at once; their payment was made elsewhere.',
  FREE_CREDIT_GRANT: 'The credits are there at once and cost nothing.',
};

const Body = z.object({
  credits_to_add: z
    .string()
    .refine((text) => typed(text)?.gt(ZERO) === true, 'must be a number above 0'),
  transaction_reason: z.enum(REASONS),
  expiry_day: z.string(),
  description: z.string().max(1_000),
});

/** Adds credits, and shows before what the balance will be. */
export function TopUpForm({
  wallet,
  onDone,
}: {
  readonly wallet: ApiRecord<'WalletBalance'>;
  readonly onDone: (text: string) => Promise<void>;
}) {
  const form = useApiForm(Body, {
    credits_to_add: '',
    transaction_reason: 'PURCHASED_CREDIT_INVOICED',
    expiry_day: '',
    description: '',
  });
  const [key] = useState(() => crypto.randomUUID());
  const [credits, reason] = useWatch({
    control: form.control,
    name: ['credits_to_add', 'transaction_reason'],
  });
  const money = priceOfCredits(credits, wallet.topup_conversion_rate);
  return (
    <Form
      form={form}
      submit="Top up"
      onSubmit={async ({ credits_to_add, expiry_day, ...values }) => {
        const { invoice_id } = await answerOf(
          api.POST('/wallets/{id}/top-up', {
            params: { path: { id: wallet.id } },
            body: {
              ...values,
              credits_to_add: credits_to_add.trim(),
              idempotency_key: key,
              ...(expiry_day === '' ? {} : { expiry_date_utc: `${expiry_day}T00:00:00Z` }),
            },
          }),
        );
        await onDone(invoice_id === null ? 'Credits added' : 'Invoice for the credits issued');
      }}
    >
      <TextField
        control={form.control}
        name="credits_to_add"
        label="Credits"
        hint={`One credit costs ${formatMoney(wallet.topup_conversion_rate, wallet.currency)}.`}
        kind="decimal"
        isRequired
        autoFocus
      />
      <SelectField
        control={form.control}
        name="transaction_reason"
        label="Reason"
        isRequired
        choices={[
          ['PURCHASED_CREDIT_INVOICED', 'Bought, with an invoice'],
          ['PURCHASED_CREDIT_DIRECT', 'Bought, paid elsewhere'],
          ['FREE_CREDIT_GRANT', 'A gift'],
        ]}
      />
      <TextField
        control={form.control}
        name="expiry_day"
        label="Expires on"
        kind="date"
        hint="At the beginning of this day in UTC; empty means never."
      />
      <TextField control={form.control} name="description" label="Description" />
      <Facts
        of={[
          ['Price', reason === 'FREE_CREDIT_GRANT' ? 'Free' : <Money amount={money} currency={wallet.currency} />], // prettier-ignore
          ['Credits now', <Quantity value={wallet.credit_balance} />],
          ['Credits after it', <Quantity value={sumOf([wallet.credit_balance, credits])} />],
        ]}
      />
      <p>{OUTCOMES[reason]}</p>
    </Form>
  );
}
