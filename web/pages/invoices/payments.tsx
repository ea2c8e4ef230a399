import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { refundCapacity } from '../../../domain/invoicing/refunds.ts';
import { decimalText } from '../../../domain/money.ts';
import { isZero } from '../../app/billing/zero.ts';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { PlainTable } from '../../ui/data-table.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Money } from '../../ui/money.tsx';
import { Row, Section, Stack } from '../../ui/page.tsx';
import { EmptyState, Loaded } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';
import { CreditNoteButton } from './credit-note-button.tsx';
import { GatewayEvents } from './gateway-events.tsx';
import { RefundForm } from './refund-form.tsx';
import { RetryRefund } from './retry-refund.tsx';

type Invoice = ApiRecord<'Invoice'>;

/** An invoice has few of each; a page of the API is enough for all of them. */
const ALL = 200;

/** Payments, refunds and credit notes of an invoice, with what can be done with each. */
export function Payments({ invoice, zone }: { readonly invoice: Invoice; readonly zone: string }) {
  const query = useQuery({
    queryKey: ['invoice-payments', invoice.id],
    queryFn: async ({ signal }) => {
      const [payments, refunds, notes] = await Promise.all([
        answerOf(
          api.POST('/payments/search', {
            body: { destination_id: invoice.id, limit: ALL },
            signal,
          }),
        ),
        answerOf(
          api.POST('/refunds/search', { body: { invoice_id: invoice.id, limit: ALL }, signal }),
        ),
        answerOf(
          api.POST('/creditnotes/search', { body: { invoice_id: invoice.id, limit: ALL }, signal }),
        ),
      ]);
      return { payments: payments.items, refunds: refunds.items, notes: notes.items };
    },
  });
  return (
    <Loaded query={query} what="payments">
      {({ payments, refunds, notes }) => (
        <Stack>
          <Section title="Payments">
            <PaymentTable payments={payments} refunds={refunds} zone={zone} />
          </Section>
          {refunds.length === 0 ? null : (
            <Section title="Refunds">
              <RefundTable refunds={refunds} zone={zone} />
            </Section>
          )}
          {payments.some(({ payment_gateway }) => payment_gateway !== null) ? (
            <GatewayEvents invoiceId={invoice.id} zone={zone} />
          ) : null}
          <Section title="Credit notes">
            <CreditNoteTable invoice={invoice} notes={notes} zone={zone} />
          </Section>
        </Stack>
      )}
    </Loaded>
  );
}

function PaymentTable({
  payments,
  refunds,
  zone,
}: {
  readonly payments: readonly ApiRecord<'Payment'>[];
  readonly refunds: readonly ApiRecord<'Refund'>[];
  readonly zone: string;
}) {
  const [refunding, setRefunding] = useState<ApiRecord<'Payment'> | null>(null);
  const queries = useQueryClient();
  if (payments.length === 0)
    return (
      <EmptyState title="No payment yet">
        Payments of gateways, of wallets, and those that you record are listed here.
      </EmptyState>
    );
  const leftOf = (payment: ApiRecord<'Payment'>): string =>
    decimalText(refundCapacity(payment, refunds));
  return (
    <>
      <PlainTable
        label="List of payments"
        rows={payments}
        columns={[
          {
            header: 'Received',
            cell: (row) => <Time at={row.succeeded_at ?? row.created_at} zone={zone} />,
          },
          { header: 'Method', wideOnly: true, cell: (row) => formatWord(row.payment_method_type) },
          { header: 'Status', cell: (row) => <Status word={row.payment_status} /> },
          {
            header: 'Reference',
            wideOnly: true,
            cell: (row) => <Reference of={row.metadata['reference'] ?? row.gateway_payment_id} />,
          },
          {
            header: 'Amount',
            align: 'end',
            cell: (row) => <Money amount={row.amount} currency={row.currency} />,
          },
          {
            header: 'Refund',
            align: 'end',
            cell: (row) =>
              isZero(leftOf(row)) ? (
                '–'
              ) : (
                <Allowed to="refund:write">
                  <Button small onPress={() => setRefunding(row)}>
                    Refund
                  </Button>
                </Allowed>
              ),
          },
        ]}
      />
      <Dialog
        title="Refund a payment"
        isOpen={refunding !== null}
        onClose={() => setRefunding(null)}
      >
        {refunding === null ? null : (
          <RefundForm
            payment={refunding}
            left={leftOf(refunding)}
            onDone={async () => {
              setRefunding(null);
              notify('Payment refunded');
              await queries.invalidateQueries();
            }}
          />
        )}
      </Dialog>
    </>
  );
}

function RefundTable({
  refunds,
  zone,
}: {
  readonly refunds: readonly ApiRecord<'Refund'>[];
  readonly zone: string;
}) {
  return (
    <PlainTable
      label="List of refunds"
      rows={refunds}
      columns={[
        { header: 'Time', cell: ({ created_at }) => <Time at={created_at} zone={zone} /> },
        { header: 'To', cell: ({ refund_target }) => formatWord(refund_target) },
        {
          header: 'Reason',
          wideOnly: true,
          cell: ({ refund_reason }) => formatWord(refund_reason),
        },
        {
          header: 'Status',
          cell: ({ refund_status, failure_reason }) => (
            <>
              <Status word={refund_status} /> {failure_reason}
            </>
          ),
        },
        {
          header: 'Gateway reference',
          wideOnly: true,
          cell: ({ gateway_refund_id }) => <Reference of={gateway_refund_id} />,
        },
        {
          header: 'Amount',
          align: 'end',
          cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
        },
        {
          header: 'Actions',
          align: 'end',
          cell: (row) => (isRetryable(row, refunds) ? <RetryRefund refund={row} /> : '–'),
        },
      ]}
    />
  );
}

/** A refund that failed is retried once, by another refund. */
const isRetryable = (
  { id, refund_status }: ApiRecord<'Refund'>,
  refunds: readonly ApiRecord<'Refund'>[],
): boolean => refund_status === 'FAILED' && !refunds.some(({ retry_of }) => retry_of === id);

function CreditNoteTable({
  invoice,
  notes,
  zone,
}: {
  readonly invoice: Invoice;
  readonly notes: readonly ApiRecord<'CreditNote'>[];
  readonly zone: string;
}) {
  const [asked, setAsked] = useState<{
    readonly note: ApiRecord<'CreditNote'>;
    readonly step: 'finalize' | 'void';
  } | null>(null);
  const queries = useQueryClient();
  if (notes.length === 0)
    return (
      <EmptyState
        title="No credit note yet"
        action={<CreditNoteButton invoice={invoice} label="Issue a credit note" />}
      >
        A credit note reduces the amount due of an invoice, or refunds what was paid.
      </EmptyState>
    );
  return (
    <>
      <PlainTable
        label="List of credit notes"
        rows={notes}
        columns={[
          { header: 'Number', cell: ({ credit_note_number }) => credit_note_number },
          {
            header: 'Time',
            wideOnly: true,
            cell: ({ created_at }) => <Time at={created_at} zone={zone} />,
          },
          {
            header: 'Type',
            wideOnly: true,
            cell: ({ credit_note_type }) => formatWord(credit_note_type),
          },
          { header: 'Reason', wideOnly: true, cell: ({ reason }) => formatWord(reason) },
          {
            header: 'Status',
            cell: ({ credit_note_status }) => <Status word={credit_note_status} />,
          },
          {
            header: 'Amount',
            align: 'end',
            cell: ({ total_amount, currency }) => (
              <Money amount={total_amount} currency={currency} />
            ),
          },
          {
            header: 'Actions',
            align: 'end',
            cell: (note) => (
              <Allowed to="creditnote:write">
                <Row>
                  {note.credit_note_status === 'DRAFT' ? (
                    <Button small onPress={() => setAsked({ note, step: 'finalize' })}>
                      Finalize
                    </Button>
                  ) : null}
                  {isVoidable(note) ? (
                    <Button small onPress={() => setAsked({ note, step: 'void' })}>
                      Void
                    </Button>
                  ) : null}
                </Row>
              </Allowed>
            ),
          },
        ]}
      />
      <ConfirmDialog
        title={asked?.step === 'void' ? 'Void this credit note?' : 'Finalize this credit note?'}
        confirm={asked?.step === 'void' ? 'Void credit note' : 'Finalize credit note'}
        tone={asked?.step === 'void' ? 'danger' : 'primary'}
        isOpen={asked !== null}
        onClose={() => setAsked(null)}
        onConfirm={async () => {
          const path = { params: { path: { id: asked!.note.id } } };
          await answerOf(
            asked!.step === 'void'
              ? api.POST('/creditnotes/{id}/void', path)
              : api.POST('/creditnotes/{id}/finalize', path),
          );
          notify(asked!.step === 'void' ? 'Credit note voided' : 'Credit note finalized');
          await queries.invalidateQueries();
        }}
      >
        {asked === null ? null : (
          <Stack>
            <Facts
              of={[
                ['Credit note', asked.note.credit_note_number],
                [
                  'Amount',
                  <Money amount={asked.note.total_amount} currency={asked.note.currency} />,
                ],
              ]}
            />
            <p>
              {asked.step === 'finalize'
                ? asked.note.credit_note_type === 'REFUND'
                  ? 'The amount is paid back to the customer.'
                  : 'It lowers the amount due of the invoice.'
                : asked.note.credit_note_status === 'DRAFT'
                  ? 'The draft had no effect yet.'
                  : 'The amount is due on the invoice again.'}
            </p>
          </Stack>
        )}
      </ConfirmDialog>
    </>
  );
}

/** A code of a gateway or a bank. */
const Reference = ({ of }: { readonly of: string | null | undefined }) =>
  of ? <code>{of}</code> : <>–</>;

/** Money that was paid back stays paid back: only adjustments and drafts are voided. */
const isVoidable = ({ credit_note_status, credit_note_type }: ApiRecord<'CreditNote'>): boolean =>
  credit_note_status === 'DRAFT' ||
  (credit_note_status === 'FINALIZED' && credit_note_type === 'ADJUSTMENT');
