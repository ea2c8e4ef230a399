import { useState } from 'react';
import { useWatch } from 'react-hook-form';
import * as z from 'zod';
import { isAbove, minus } from '../../app/billing/amounts.ts';
import { useCustomerTime } from '../../app/customer-time.ts';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Facts } from '../../ui/facts.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Money } from '../../ui/money.tsx';
import { Awaiting } from '../../ui/query-state.tsx';
import { formatCurrency } from '../../ui/text.ts';
import { amountText } from './amount-text.ts';

const bodyOf = (today: string) =>
  z.object({
    amount: amountText,
    day: z.iso
      .date('choose a day')
      .refine((day) => day <= today, { message: 'must not be in the future' }),
    reference: z.string().max(500),
  });

interface Recorded {
  readonly invoice: ApiRecord<'Invoice'>;
  readonly onDone: () => Promise<void>;
}

/** Records money that came outside of every gateway: a transfer, a cheque, cash. */
export function PaymentForm(recorded: Recorded) {
  const now = useCustomerTime(recorded.invoice.customer);
  if (now === undefined) return <Awaiting what="the form" />;
  return <DatedPaymentForm {...recorded} today={now.slice(0, 'YYYY-MM-DD'.length)} />;
}

function DatedPaymentForm({ invoice, onDone, today }: Recorded & { readonly today: string }) {
  const [body] = useState(() => bodyOf(today));
  const form = useApiForm(body, {
    amount: invoice.amount_remaining,
    day: today,
    reference: '',
  });
  // One key for the life of the dialog: a second press records nothing again.
  const [key] = useState(() => crypto.randomUUID());
  const amount = useWatch({ control: form.control, name: 'amount' });
  const isTooMuch = isAbove(amount, invoice.amount_remaining);
  return (
    <Form
      form={form}
      submit="Record payment"
      onSubmit={async (values) => {
        await answerOf(
          api.POST('/payments', {
            body: {
              destination_type: 'INVOICE',
              destination_id: invoice.id,
              payment_method_type: 'OFFLINE',
              amount: values.amount.trim(),
              currency: invoice.currency,
              process_payment: true,
              // A payment of today was received now.
              ...(values.day === today ? {} : { succeeded_at: `${values.day}T00:00:00Z` }),
              idempotency_key: key,
              ...(values.reference === '' ? {} : { metadata: { reference: values.reference } }),
            },
          }),
        );
        await onDone();
      }}
    >
      <p>
        For money that arrived outside of a gateway: a transfer, a cheque, cash. Nothing is charged.
      </p>
      <TextField
        control={form.control}
        name="amount"
        label={`Amount in ${formatCurrency(invoice.currency)}`}
        kind="decimal"
        isRequired
        autoFocus
      />
      <TextField
        control={form.control}
        name="day"
        label="Day received (UTC)"
        kind="date"
        hint="Figures by day count the money on this day."
        isRequired
      />
      <TextField
        control={form.control}
        name="reference"
        label="Reference"
        hint="For example the number on the bank statement."
      />
      <Facts
        of={[
          [
            'Amount due now',
            <Money amount={invoice.amount_remaining} currency={invoice.currency} />,
          ],
          [
            'Amount due after it',
            <Money amount={minus(invoice.amount_remaining, amount)} currency={invoice.currency} />,
          ],
        ]}
      />
      {isTooMuch ? <p>This is more than the amount due. The invoice will be overpaid.</p> : null}
    </Form>
  );
}
