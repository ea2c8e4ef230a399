import { useWatch } from 'react-hook-form';
import * as z from 'zod';
import { sumOf } from '../../app/billing/amounts.ts';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Facts } from '../../ui/facts.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Money } from '../../ui/money.tsx';
import { amountOrNothing, amountText } from './amount-text.ts';
import { replacementInWords } from './replacement.ts';
import { RowFields } from './row-fields.tsx';

const Body = z.object({
  rows: z.array(
    z.object({
      row_id: z.string(),
      display_name: z.string().min(1, 'is required').max(255),
      quantity: amountOrNothing,
      amount: amountText,
    }),
  ),
});

/** Rows of an invoice as fields. What is left unchanged is not sent, and keeps its explanation. */
export function RowsForm({
  invoice,
  onDone,
}: {
  readonly invoice: ApiRecord<'Invoice'>;
  /** The id of the edited invoice: another one when it was finalized. */
  readonly onDone: (id: string) => Promise<void>;
}) {
  const lines = invoice.line_items ?? [];
  const before = lines.map((line) => ({
    row_id: line.id,
    display_name: line.display_name ?? '',
    quantity: line.quantity,
    amount: line.amount,
  }));
  const form = useApiForm(Body, { rows: before });
  const rows = useWatch({ control: form.control, name: 'rows' });
  return (
    <Form
      form={form}
      isWide
      submit={invoice.invoice_status === 'DRAFT' ? 'Save line items' : 'Void and create draft'}
      onSubmit={async (values) => {
        const edited = await answerOf(
          api.POST('/invoices/{id}/modify/execute', {
            params: { path: { id: invoice.id } },
            body: { line_items: editsOf(before, values.rows) },
          }),
        );
        await onDone(edited.id);
      }}
    >
      {invoice.invoice_status === 'DRAFT' ? null : (
        <p>
          This invoice is voided, and a draft with the line items below replaces it.{' '}
          {replacementInWords(invoice)}
        </p>
      )}
      <RowFields control={form.control} path="rows" currency={invoice.currency} />
      <Facts
        of={[
          ['Current subtotal', <Money amount={invoice.subtotal} currency={invoice.currency} />],
          [
            'New subtotal',
            <Money amount={sumOf(rows.map(({ amount }) => amount))} currency={invoice.currency} />,
          ],
        ]}
      />
      <p>Discounts, taxes and the total are recalculated from these line items.</p>
    </Form>
  );
}

type Rows = z.output<typeof Body>['rows'];

type Edit = ApiRecord<'InvoiceRowEdit'>;

function editsOf(before: Rows, after: Rows): Edit[] {
  const kept = new Set(after.map(({ row_id }) => row_id));
  const removed: Edit[] = before
    .filter(({ row_id }) => !kept.has(row_id))
    .map(({ row_id }) => ({ action: 'remove', id: row_id }));
  const written = after.flatMap((row): Edit[] => {
    const { row_id, display_name } = row;
    const values = {
      display_name,
      amount: row.amount.trim(),
      quantity: row.quantity.trim() === '' ? null : row.quantity.trim(),
    };
    if (row_id === '') return [{ action: 'add', ...values }];
    const old = before.find((one) => one.row_id === row_id)!;
    const isSame =
      old.display_name === display_name &&
      old.amount === row.amount &&
      old.quantity === row.quantity;
    return isSame ? [] : [{ action: 'update', id: row_id, ...values }];
  });
  return [...removed, ...written];
}
