import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { byText } from '../../domain/text-order.ts';
import { invoiceName } from '../app/billing/invoice-name.ts';
import { PaymentBadge } from '../app/billing/payment-badge.tsx';
import { Button } from '../ui/button.tsx';
import { Money } from '../ui/money.tsx';
import { Card, Columns, Row, Section, Stack } from '../ui/page.tsx';
import { Loaded } from '../ui/query-state.tsx';
import { Day } from '../ui/time.tsx';
import { isPayable, PaymentDialog } from './payment-dialog.tsx';
import { usePortal } from './portal.ts';
import { invoicesQuery, type Invoice } from './queries.ts';

const SHOWN_MAX = 3;
/** Invoices among which the open ones are found, the newest ones. */
const NEWEST = { limit: 100, offset: 0 };

/** The open invoices that are due first, each with its payment; nothing if none is open. */
export function OpenInvoices() {
  const query = useQuery(invoicesQuery(NEWEST));
  // Here, because a paid invoice leaves the list while its payment is still shown.
  const [paying, setPaying] = useState<Invoice | null>(null);
  return (
    <>
      <Loaded query={query} what="your open invoices">
        {({ items }) => <DueFirst invoices={items.filter(isPayable)} onPay={setPaying} />}
      </Loaded>
      <PaymentDialog invoice={paying} onClose={() => setPaying(null)} />
    </>
  );
}

function DueFirst({
  invoices,
  onPay,
}: {
  readonly invoices: readonly Invoice[];
  readonly onPay: (invoice: Invoice) => void;
}) {
  if (invoices.length === 0) return null;
  return (
    <Section title="Open invoices" actions={<Link to="/invoices">All invoices</Link>}>
      <Columns>
        {[...invoices]
          .sort((a, b) => byText(a.due_date ?? WITHOUT_DUE_DATE, b.due_date ?? WITHOUT_DUE_DATE))
          .slice(0, SHOWN_MAX)
          .map((invoice) => (
            <OpenInvoice key={invoice.id} invoice={invoice} onPay={() => onPay(invoice)} />
          ))}
      </Columns>
    </Section>
  );
}

/** After all due dates: ISO 8601 times in UTC sort as text. */
const WITHOUT_DUE_DATE = '9999';

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
