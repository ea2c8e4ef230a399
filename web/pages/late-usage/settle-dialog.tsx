import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { PreviewedInvoice } from '../../app/billing/invoice-preview.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { PlainTable } from '../../ui/data-table.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Money } from '../../ui/money.tsx';
import { Stack } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { notify } from '../../ui/toasts.tsx';
import type { LateUsage } from './compared-invoices.ts';

export type SettledAs = ApiRecord<'SettleLateUsage'>['as'];

const PREVIEW = 'late-usage-preview';

/** Shows the document that settles the late usage, with its taxes, and issues it. */
export function SettleDialog({
  late,
  as,
  onClose,
}: {
  readonly late: LateUsage;
  readonly as: SettledAs;
  readonly onClose: () => void;
}) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [key] = useState(() => crypto.randomUUID());
  const path = { params: { path: { id: late.invoice_id } } };
  const preview = useQuery({
    queryKey: [PREVIEW, late.invoice_id, as],
    queryFn: ({ signal }) =>
      answerOf(api.POST('/invoices/{id}/late-usage/preview', { ...path, body: { as }, signal })),
    // Usage may have arrived since the last look.
    gcTime: 0,
  });
  const name = as === 'invoice' ? 'Issue invoice' : 'Issue credit note';
  return (
    <ConfirmDialog
      title={`${name} for late usage`}
      confirm={name}
      isOpen
      isReady={preview.data !== undefined}
      onClose={onClose}
      onConfirm={async () => {
        const body = { as, idempotency_key: key };
        const { invoice } = await answerOf(
          api.POST('/invoices/{id}/late-usage/settle', { ...path, body }),
        );
        notify(invoice === null ? 'Credit note issued' : 'Invoice issued');
        // The preview has nothing to show any more.
        await queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== PREVIEW });
        await navigate({
          to:
            invoice === null
              ? `/invoices/${late.invoice_id}?tab=payments`
              : `/invoices/${invoice.id}`,
        });
      }}
    >
      <Loaded query={preview} what="the preview">
        {({ invoice, credit_note }) =>
          invoice !== null ? (
            <PreviewedInvoice invoice={invoice} />
          ) : credit_note !== null ? (
            <PreviewedCreditNote note={credit_note} />
          ) : null
        }
      </Loaded>
    </ConfirmDialog>
  );
}

function PreviewedCreditNote({ note }: { readonly note: ApiRecord<'CreditNote'> }) {
  const money = (amount: string) => <Money amount={amount} currency={note.currency} />;
  return (
    <Stack>
      <PlainTable
        label="Rows of the credit note"
        rows={note.line_items ?? []}
        columns={[
          { header: 'Line item', cell: (row) => <bdi>{row.display_name}</bdi> },
          { header: 'Credit', align: 'end', cell: ({ amount }) => money(amount) },
        ]}
      />
      <Facts of={[['Credited with tax', money(note.total_amount)]]} />
      <p>
        {note.credit_note_type === 'REFUND'
          ? 'The invoice is paid: the amount is paid back to the prepaid wallet of the customer.'
          : 'The amount lowers what is open on the invoice.'}
      </p>
    </Stack>
  );
}
