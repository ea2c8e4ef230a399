import { useState } from 'react';
import { useWatch } from 'react-hook-form';
import * as z from 'zod';
import { ZERO } from '../../../domain/money.ts';
import { minus, typed } from '../../app/billing/amounts.ts';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Facts } from '../../ui/facts.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Quantity } from '../../ui/money.tsx';

const Body = z.object({
  credits: z.string().refine((text) => typed(text)?.gt(ZERO) === true, 'must be a number above 0'),
  description: z.string().max(1_000),
});

/** Takes credits out of a wallet, and shows before what is left. */
export function DebitForm({
  wallet,
  onDone,
}: {
  readonly wallet: ApiRecord<'WalletBalance'>;
  readonly onDone: (text: string) => Promise<void>;
}) {
  const form = useApiForm(Body, { credits: '', description: '' });
  const [key] = useState(() => crypto.randomUUID());
  const credits = useWatch({ control: form.control, name: 'credits' });
  const left = minus(wallet.credit_balance, credits);
  return (
    <Form
      form={form}
      submit="Debit credits"
      tone="danger"
      onSubmit={async ({ credits: written, description }) => {
        await answerOf(
          api.POST('/wallets/{id}/debit', {
            params: { path: { id: wallet.id } },
            body: {
              credits: written.trim(),
              description,
              transaction_reason: 'MANUAL_BALANCE_DEBIT',
              idempotency_key: key,
            },
          }),
        );
        await onDone('Credits debited');
      }}
    >
      <TextField
        control={form.control}
        name="credits"
        label="Credits"
        kind="decimal"
        isRequired
        autoFocus
      />
      <TextField control={form.control} name="description" label="Description" />
      <Facts
        of={[
          ['Credits now', <Quantity value={wallet.credit_balance} />],
          ['Credits after it', <Quantity value={left} />],
        ]}
      />
      {left.startsWith('-') ? (
        <p>The wallet is overdrawn: the next credits pay this back before they are available.</p>
      ) : null}
    </Form>
  );
}
