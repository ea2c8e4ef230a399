import { PaymentBadge } from '../app/billing/payment-badge.tsx';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { InvoiceDocument } from '../app/billing/invoice-document.tsx';
import { Button } from '../ui/button.tsx';
import { Page, Row, Stack } from '../ui/page.tsx';
import { Failure, Loaded } from '../ui/query-state.tsx';
import { isPayable, PaymentDialog } from './payment-dialog.tsx';
import { usePageLabel, usePortal } from './portal.ts';
import { invoiceFileQuery, invoiceQuery, type Invoice } from './queries.ts';

/** One invoice as a document, as a file, and its payment. */
export function View() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const query = useQuery(invoiceQuery(id));
  const invoice = query.data;
  return (
    <Page
      title={invoice?.invoice_number ?? 'Invoice'}
      crumbs={[{ label: usePageLabel('invoices') ?? '', to: '/invoices' }]}
      actions={invoice === undefined ? undefined : <Actions invoice={invoice} />}
    >
      <Loaded query={query} what="the invoice">
        {(data) => <Content invoice={data} />}
      </Loaded>
    </Page>
  );
}

function Content({ invoice }: { readonly invoice: Invoice }) {
  const { seller, customer } = usePortal();
  return (
    <Stack>
      <Row>
        <PaymentBadge invoice={invoice} at={customer.now} />
      </Row>
      <InvoiceDocument invoice={invoice} seller={seller.name} />
    </Stack>
  );
}

function Actions({ invoice }: { readonly invoice: Invoice }) {
  const [isOpen, setOpen] = useState(false);
  const file = useQuery(invoiceFileQuery(invoice.id));
  return (
    <>
      {file.isError ? <Failure error={file.error} retry={file.refetch} /> : null}
      {file.data === undefined ? null : (
        <a href={file.data} target="_blank" rel="noreferrer">
          Open as PDF
        </a>
      )}
      {isPayable(invoice) ? (
        <Button tone="primary" onPress={() => setOpen(true)}>
          Pay now
        </Button>
      ) : null}
      <PaymentDialog invoice={isOpen ? invoice : null} onClose={() => setOpen(false)} />
    </>
  );
}
