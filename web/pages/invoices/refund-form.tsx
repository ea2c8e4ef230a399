import { useState } from 'react';
import { useWatch } from 'react-hook-form';
import * as z from 'zod';
import { REFUND_REASONS, REFUND_TARGETS } from '../../../schemas/words.ts';
import { minus } from '../../app/billing/amounts.ts';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Facts } from '../../ui/facts.tsx';
import { SelectField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Money } from '../../ui/money.tsx';
import { formatCurrency, formatWord } from '../../ui/text.ts';
import { amountText, isWithin, withinText } from './amount-text.ts';
import { RefundTargetField } from './refund-target.tsx';

const bodyOf = (left: string, currency: string) =>
  z.object({
    amount: amountText.refine((text) => isWithin(text, left), withinText(left, currency)),
    target: z.enum(REFUND_TARGETS),
    reason: z.enum(REFUND_REASONS),
  });

/** Pays back a part of a payment, or all of it. */
export function RefundForm({
  payment,
  left,
  onDone,
}: {
  readonly payment: ApiRecord<'Payment'>;
  /** What can still be paid back. */
  readonly left: string;
  readonly onDone: () => Promise<void>;
}) {
  const form = useApiForm(bodyOf(left, payment.currency), {
    amount: left,
    target: 'PREPAID_WALLET',
    reason: 'REQUESTED_BY_CUSTOMER',
  });
  const [key] = useState(() => crypto.randomUUID());
  const amount = useWatch({ control: form.control, name: 'amount' });
  return (
    <Form
      form={form}
      submit="Refund payment"
      onSubmit={async ({ amount: value, target, reason }) => {
        await answerOf(
          api.POST('/refunds', {
            body: {
              payment_id: payment.id,
              amount: value.trim(),
              target,
              reason,
              idempotency_key: key,
            },
          }),
        );
        await onDone();
      }}
    >
      <TextField
        control={form.control}
        name="amount"
        label={`Amount in ${formatCurrency(payment.currency)}`}
        kind="decimal"
        isRequired
        autoFocus
      />
      <RefundTargetField
        control={form.control}
        name="target"
        isOffline={payment.payment_method_type === 'OFFLINE'}
      />
      <SelectField
        control={form.control}
        name="reason"
        label="Reason"
        isRequired
        choices={REFUND_REASONS.map((reason) => [reason, formatWord(reason)] as const)}
      />
      <Facts
        of={[
          ['Paid', <Money amount={payment.amount} currency={payment.currency} />],
          ['Can be refunded', <Money amount={left} currency={payment.currency} />],
          [
            'Left to refund after it',
            isWithin(amount, left) ? (
              <Money amount={minus(left, amount)} currency={payment.currency} />
            ) : null,
          ],
        ]}
      />
    </Form>
  );
}
