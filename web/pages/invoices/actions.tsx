import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Download, Ellipsis } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { download } from '../../client/download.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Money } from '../../ui/money.tsx';
import { Stack } from '../../ui/page.tsx';
import { Failure } from '../../ui/query-state.tsx';
import { Day } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';
import { isZero } from '../../app/billing/zero.ts';
import { CreditNoteButton } from './credit-note-button.tsx';
import { PaymentForm } from './payment-form.tsx';
import { PaymentLink } from './payment-link.tsx';
import { replacementInWords } from './replacement.ts';
import { RowsForm } from './rows-form.tsx';

type Invoice = ApiRecord<'Invoice'>;
type Open = 'finalize' | 'void' | 'recalculate' | 'rows' | 'payment' | 'link' | null;

/** The actions on an invoice in its present state. Each says what it will do before it is executed. */
export function InvoiceActions({ invoice }: { readonly invoice: Invoice }) {
  const [open, setOpen] = useState<Open>(null);
  const [failure, setFailure] = useState<Error | null>(null);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const close = (): void => setOpen(null);
  const done = async (text: string): Promise<void> => {
    notify(text);
    await queries.invalidateQueries();
  };
  const path = { params: { path: { id: invoice.id } } };
  const compute = async (): Promise<void> => {
    setFailure(null);
    try {
      await answerOf(api.POST('/invoices/{id}/compute', path));
      await done('Draft computed again');
    } catch (error) {
      setFailure(error as Error);
    }
  };
  const isDraft = invoice.invoice_status === 'DRAFT';
  const isFinalized = invoice.invoice_status === 'FINALIZED';
  const more = [
    ...(isDraft && invoice.subscription_id !== null
      ? [{ id: 'compute', label: 'Recompute', onChoose: () => void compute() }]
      : []),
    ...(isFinalized
      ? [{ id: 'rows', label: 'Edit line items', onChoose: () => setOpen('rows') }]
      : []),
    ...(isFinalized && invoice.subscription_id !== null
      ? [{ id: 'recalculate', label: 'Recalculate', onChoose: () => setOpen('recalculate') }]
      : []),
    ...(isDraft || isFinalized
      ? [{ id: 'void', label: 'Void invoice', isDanger: true, onChoose: () => setOpen('void') }]
      : []),
  ];
  const fileName = `${invoice.invoice_number ?? invoice.id}.pdf`;
  return (
    <>
      {failure === null ? null : <Failure error={failure} />}
      <Button
        icon={<Download size={14} aria-hidden />}
        onPress={() =>
          void download(`/invoices/${invoice.id}/pdf`, fileName).then(
            () => setFailure(null),
            setFailure,
          )
        }
      >
        PDF
      </Button>
      <Allowed to="invoice:write">
        {isDraft ? (
          <>
            <Button onPress={() => setOpen('rows')}>Edit line items</Button>
            <Button tone="primary" onPress={() => setOpen('finalize')}>
              Finalize
            </Button>
          </>
        ) : null}
      </Allowed>
      <CreditNoteButton invoice={invoice} label="Credit note" />
      {isFinalized && !isZero(invoice.amount_remaining) && invoice.customer !== null ? (
        <Allowed to="checkoutsession:write">
          <Button onPress={() => setOpen('link')}>Payment link</Button>
        </Allowed>
      ) : null}
      {isFinalized && !isZero(invoice.amount_remaining) ? (
        <Allowed to="payment:write">
          <Button tone="primary" onPress={() => setOpen('payment')}>
            Record payment
          </Button>
        </Allowed>
      ) : null}
      <Allowed to="invoice:write">
        {more.length === 0 ? null : (
          <Menu label="More actions" button={<Ellipsis size={16} aria-hidden />} actions={more} />
        )}
      </Allowed>
      <ConfirmDialog
        title="Finalize this invoice?"
        confirm="Finalize invoice"
        isOpen={open === 'finalize'}
        onClose={close}
        onConfirm={async () => {
          const { message } = await answerOf(api.POST('/invoices/{id}/finalize', path));
          await done(message);
        }}
      >
        <Outcome
          invoice={invoice}
          says="The invoice gets its number, is sent to the customer, and its line items can no longer change. Prepaid credits are applied first."
        />
      </ConfirmDialog>
      <ConfirmDialog
        title="Void this invoice?"
        confirm="Void invoice"
        tone="danger"
        isOpen={open === 'void'}
        onClose={close}
        onConfirm={async () => {
          await answerOf(api.POST('/invoices/{id}/void', { ...path, body: {} }));
          await done('Invoice voided');
        }}
      >
        <Outcome
          invoice={invoice}
          says={
            isZero(invoice.amount_paid)
              ? 'Nothing is owed on it any more. This cannot be undone; the invoice stays readable.'
              : 'Nothing is owed on it any more, and what was paid goes to the prepaid wallet of the customer. This cannot be undone; the invoice stays readable.'
          }
        />
      </ConfirmDialog>
      <ConfirmDialog
        title="Recalculate this invoice?"
        confirm="Void and recalculate"
        isOpen={open === 'recalculate'}
        onClose={close}
        onConfirm={async () => {
          const draft = await answerOf(api.POST('/invoices/{id}/recalculate', path));
          await done('A new draft replaces the invoice');
          await navigate({ to: `/invoices/${draft.id}` });
        }}
      >
        <Outcome
          invoice={invoice}
          says={`This invoice is voided, and a draft that is computed from the present usage and terms replaces it. ${replacementInWords(invoice)}`}
        />
      </ConfirmDialog>
      <Dialog title="Edit line items" isOpen={open === 'rows'} onClose={close} isWide>
        <RowsForm
          invoice={invoice}
          onDone={async (edited) => {
            await done('Rows changed');
            close();
            if (edited !== invoice.id) await navigate({ to: `/invoices/${edited}` });
          }}
        />
      </Dialog>
      <Dialog title="Payment link" isOpen={open === 'link'} onClose={close}>
        <PaymentLink invoice={invoice} onDone={close} />
      </Dialog>
      <Dialog title="Record payment" isOpen={open === 'payment'} onClose={close}>
        <PaymentForm
          invoice={invoice}
          onDone={async () => {
            await done('Payment recorded');
            close();
          }}
        />
      </Dialog>
    </>
  );
}

function Outcome({ invoice, says }: { readonly invoice: Invoice; readonly says: ReactNode }) {
  return (
    <Stack>
      <Facts
        of={[
          ['Invoice', invoice.invoice_number ?? 'Draft'],
          ['Customer', <bdi>{invoice.customer?.name ?? invoice.customer_id}</bdi>],
          ['Total', <Money amount={invoice.total} currency={invoice.currency} />],
          ['Paid', <Money amount={invoice.amount_paid} currency={invoice.currency} />],
          ['Amount due', <Money amount={invoice.amount_remaining} currency={invoice.currency} />],
          ['Due', <Day at={invoice.due_date} zone={invoice.customer?.timezone ?? 'UTC'} />],
        ]}
      />
      <p>{says}</p>
    </Stack>
  );
}
