import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { invoiceName } from '../app/billing/invoice-name.ts';
import { PaymentBadge } from '../app/billing/payment-badge.tsx';
import { isZero } from '../app/billing/zero.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Money } from '../ui/money.tsx';
import { Card, Columns, Row, Section, Stack } from '../ui/page.tsx';
import { Day } from '../ui/time.tsx';
import { PayInvoice } from './pay-invoice.tsx';
import { usePortal } from './portal.ts';
import { invoicesQuery, type Invoice } from './queries.ts';

const SHOWN_MAX = 3;

/** The open invoices that are due first, each with its payment; nothing if none is open. */
export function OpenInvoices() {
  const query = useQuery(invoicesQuery({ limit: 100, offset: 0 }));
  // Here, because a paid invoice leaves the list while its payment is still shown.
  const [paying, setPaying] = useState<Invoice | null>(null);
  const open = (query.data?.items ?? []).filter(isOpen).sort(byDueDate);
  const close = () => setPaying(null);
  return (
    <>
      {open.length === 0 ? null : (
        <Section title="Open invoices" actions={<Link to="/invoices">All invoices</Link>}>
          <Columns>
            {open.slice(0, SHOWN_MAX).map((invoice) => (
              <OpenInvoice key={invoice.id} invoice={invoice} onPay={() => setPaying(invoice)} />
            ))}
          </Columns>
        </Section>
      )}
      <Dialog
        title={`Pay invoice ${paying?.invoice_number ?? ''}`}
        isOpen={paying !== null}
        onClose={close}
      >
        {paying === null ? null : <PayInvoice invoice={paying} onDone={close} />}
      </Dialog>
    </>
  );
}

function OpenInvoice({
  invoice,
  onPay,
}: {
  readonly invoice: Invoice;
  readonly onPay: () => void;
}) {
  const { timezone, now } = usePortal().customer;
  const { amount_remaining, currency, due_date } = invoice;
  return (
    <Card>
      <Stack>
        <Row>
          <h3>
            <Link to={`/invoices/${invoice.id}`}>{invoiceName(invoice)}</Link>
          </h3>
          <PaymentBadge invoice={invoice} at={now} />
        </Row>
        <Row>
          <p>
            <strong>
              <Money amount={amount_remaining} currency={currency} />
            </strong>
            {due_date === null ? null : (
              <>
                {' due on '}
                <Day at={due_date} zone={timezone} />
              </>
            )}
          </p>
          <Button
            small
            tone="primary"
            aria-label={`Pay invoice ${invoiceName(invoice)}`}
            onPress={onPay}
          >
            Pay
          </Button>
        </Row>
      </Stack>
    </Card>
  );
}

const isOpen = ({ invoice_status, amount_remaining }: Invoice): boolean =>
  invoice_status === 'FINALIZED' && !isZero(amount_remaining);

/** ISO 8601 times in UTC sort as text; without a due date last. */
const byDueDate = (a: Invoice, b: Invoice): number =>
  (a.due_date ?? '9999') < (b.due_date ?? '9999') ? -1 : 1;
