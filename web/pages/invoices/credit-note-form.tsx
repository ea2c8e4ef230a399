import { useState } from 'react';
import { useWatch } from 'react-hook-form';
import * as z from 'zod';
import { creditNoteType, TAX_LINE } from '../../../domain/invoicing/credit-notes.ts';
import { CREDIT_NOTE_REASONS, REFUND_TARGETS } from '../../../schemas/words.ts';
import { minus, sumOf } from '../../app/billing/amounts.ts';
import { isZero } from '../../app/billing/zero.ts';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Refusal } from '../../client/refusal.ts';
import { Facts } from '../../ui/facts.tsx';
import { FieldRow, SelectField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Money } from '../../ui/money.tsx';
import { formatCurrency, formatMoney, formatWord } from '../../ui/text.ts';
import { amountOrNothing, isWithin, withinText } from './amount-text.ts';
import { RefundTargetField } from './refund-target.tsx';

const NO_AMOUNT = 'Enter an amount for at least one line item.';

/** Each amount is at most that of its line; earlier credit notes may leave less, which the server says. */
const bodyOf = (lines: readonly { readonly amount: string }[], currency: string) =>
  z.object({
    reason: z.enum(CREDIT_NOTE_REASONS),
    refund_target: z.enum(REFUND_TARGETS),
    memo: z.string().max(10_000),
    amounts: z.array(amountOrNothing).superRefine((amounts, context) => {
      for (const [index, { amount }] of lines.entries()) {
        const text = amounts[index] ?? '';
        if (text.trim() === '' || isWithin(text, amount)) continue;
        const message = withinText(amount, currency);
        context.addIssue({ code: 'custom', path: [index], message });
      }
    }),
  });

/** Credits rows of a finalized invoice: lowers what is open, or pays back what was paid. */
export function CreditNoteForm({
  invoice,
  onDone,
}: {
  readonly invoice: ApiRecord<'Invoice'>;
  readonly onDone: () => Promise<void>;
}) {
  const tax = invoice.tax_summary?.exclusive_tax ?? '0';
  const lines = [
    ...(invoice.line_items ?? []).map((line) => ({
      id: line.id,
      name: line.display_name ?? 'Line item',
      amount: minus(minus(line.amount, line.line_item_discount), line.invoice_level_discount),
    })),
    ...(isZero(tax) ? [] : [{ id: TAX_LINE, name: 'Tax', amount: tax }]),
  ].filter(({ amount }) => !amount.startsWith('-') && !isZero(amount));
  const type = creditNoteType(invoice.payment_status);
  const form = useApiForm(bodyOf(lines, invoice.currency), {
    reason: 'BILLING_ERROR',
    refund_target: 'PREPAID_WALLET',
    memo: '',
    amounts: lines.map(() => ''),
  });
  const [key] = useState(() => crypto.randomUUID());
  const amounts = useWatch({ control: form.control, name: 'amounts' });
  const total = sumOf(amounts);
  return (
    <Form
      form={form}
      isWide
      submit="Issue credit note"
      onSubmit={async (values) => {
        if (values.amounts.every((text) => text.trim() === ''))
          throw new Refusal(0, { code: 'invalid', message: NO_AMOUNT });
        await answerOf(
          api.POST('/creditnotes', {
            body: {
              invoice_id: invoice.id,
              reason: values.reason,
              memo: values.memo,
              process_credit_note: true,
              idempotency_key: key,
              ...(type === 'REFUND' ? { refund_target: values.refund_target } : {}),
              line_items: lines.flatMap(({ id }, index) => {
                const amount = values.amounts[index]!.trim();
                return amount === '' ? [] : [{ invoice_line_item_id: id, amount }];
              }),
            },
          }),
        );
        await onDone();
      }}
    >
      <p>
        Enter what to credit of each line item, in {formatCurrency(invoice.currency)}. Leave the
        others empty.
      </p>
      {lines.map(({ id, name, amount }, index) => (
        <TextField
          key={id}
          control={form.control}
          name={`amounts.${index}`}
          label={name}
          kind="decimal"
          hint={`Up to ${formatMoney(amount, invoice.currency)}`}
        />
      ))}
      <FieldRow>
        <SelectField
          control={form.control}
          name="reason"
          label="Reason"
          isRequired
          choices={CREDIT_NOTE_REASONS.map((reason) => [reason, formatWord(reason)] as const)}
        />
        {type === 'REFUND' ? (
          <RefundTargetField control={form.control} name="refund_target" />
        ) : null}
      </FieldRow>
      <TextField control={form.control} name="memo" label="Memo" />
      <Facts
        of={[
          ['Credited', <Money amount={total} currency={invoice.currency} />],
          type === 'REFUND'
            ? ['Paid back', <Money amount={total} currency={invoice.currency} />]
            : [
                'Amount due after it',
                <Money
                  amount={minus(invoice.amount_remaining, total)}
                  currency={invoice.currency}
                />,
              ],
        ]}
      />
      <p>
        {type === 'REFUND'
          ? 'The invoice is paid, so the note pays money back. It is finalized at once and cannot be voided.'
          : 'The invoice is not paid, so the note lowers the amount due. It is finalized at once; voiding it restores the amount due.'}
      </p>
    </Form>
  );
}
