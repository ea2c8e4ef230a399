import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { InvoiceDocument } from '../../app/billing/invoice-document.tsx';
import { InvoicePayment } from '../../app/billing/invoice-payment.tsx';
import { SubscriptionName } from '../../app/billing/subscription-name.tsx';
import { TimelineLater } from '../../app/billing/timeline-later.tsx';
import { WhyAmount } from '../../app/billing/why-amount.tsx';
import { useSignedIn } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { Id } from '../../ui/code-block.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Card, Page, Row, Stack } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { formatWord } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';
import { useUrlState } from '../../ui/url-state.ts';
import { InvoiceActions } from './actions.tsx';
import { Ledger } from './ledger.tsx';
import { Payments } from './payments.tsx';
import { WhyDialog } from './why-dialog.tsx';

const STATE = { tab: 'document', line: '' };

/** One invoice: the document, why each amount is what it is, and every movement on it. */
export function View() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const query = useQuery({
    queryKey: ['invoice', id],
    queryFn: ({ signal }) =>
      answerOf(
        api.GET('/invoices/{id}', {
          params: { path: { id }, query: { expand: 'tax_applied.tax_rate' } },
          signal,
        }),
      ),
  });
  const invoice = query.data;
  return (
    <Page
      title={invoice === undefined ? 'Invoice' : (invoice.invoice_number ?? 'Draft invoice')}
      crumbs={[{ label: 'Invoices', to: '/invoices' }]}
      description={
        invoice?.customer == null ? undefined : (
          <Link to={`/customers/${invoice.customer_id}`}>
            <bdi>{invoice.customer.name}</bdi>
          </Link>
        )
      }
      actions={invoice === undefined ? undefined : <InvoiceActions invoice={invoice} />}
    >
      <Loaded query={query} what="the invoice">
        {(data) => <Content invoice={data} />}
      </Loaded>
    </Page>
  );
}

function Content({ invoice }: { readonly invoice: ApiRecord<'Invoice'> }) {
  const [state, setState] = useUrlState(STATE);
  const { person } = useSignedIn();
  const zone = invoice.subscription?.customer_timezone ?? invoice.customer?.timezone ?? 'UTC';
  return (
    <Stack>
      <Row>
        <Status word={invoice.invoice_status} />
        {invoice.invoice_status === 'FINALIZED' ? <InvoicePayment invoice={invoice} /> : null}
        {invoice.finalize_refusal === null ? null : <span>{invoice.finalize_refusal}</span>}
        {invoice.invoice_status === 'FINALIZED' &&
        invoice.invoice_type === 'SUBSCRIPTION' &&
        invoice.subscription_id !== null ? (
          <Link to={`/late-usage/${invoice.id}`}>Late usage</Link>
        ) : null}
        {invoice.recalculated_invoice_id === null ? null : (
          <Link to={`/invoices/${invoice.recalculated_invoice_id}`}>
            The invoice that replaces this one
          </Link>
        )}
      </Row>
      <Tabs
        label="Parts of the invoice"
        chosen={state.tab}
        onChoose={(tab) => setState({ tab })}
        tabs={[
          {
            id: 'document',
            label: 'Document',
            content: () => (
              <InvoiceDocument
                invoice={invoice}
                seller={person.tenant.name}
                explain={(line) => <WhyAmount line={line} open={{ line: line.id }} />}
              />
            ),
          },
          {
            id: 'payments',
            label: 'Payments and credits',
            content: () => <Payments invoice={invoice} zone={zone} />,
          },
          {
            id: 'ledger',
            label: 'Ledger',
            content: () => <Ledger invoiceId={invoice.id} zone={zone} />,
          },
          {
            id: 'timeline',
            label: 'Timeline',
            content: () => (
              <TimelineLater
                of={{ invoice_id: invoice.id }}
                zone={zone}
                isOnTestClock={(invoice.customer?.test_clock_id ?? null) !== null}
              />
            ),
          },
          {
            id: 'details',
            label: 'Details',
            content: () => (
              <Card>
                <Facts
                  of={[
                    ['Id', <Id of={invoice.id} />],
                    ['Type', formatWord(invoice.invoice_type)],
                    ['Reason', formatWord(invoice.billing_reason ?? '')],
                    [
                      'Subscription',
                      invoice.subscription_id === null ? (
                        ''
                      ) : (
                        <SubscriptionName id={invoice.subscription_id} />
                      ),
                    ],
                    ['Created', <Time at={invoice.created_at} zone={zone} />],
                    ['Computed', <Time at={invoice.last_computed_at} zone={zone} />],
                    ['Finalized', <Time at={invoice.finalized_at} zone={zone} />],
                    ['Paid', <Time at={invoice.paid_at} zone={zone} />],
                    ['Voided', <Time at={invoice.voided_at} zone={zone} />],
                    ['Edited by a person', invoice.is_manually_edited ? 'Yes' : 'No'],
                    ['Metadata', Object.entries(invoice.metadata).map(([k, v]) => `${k}: ${v}`).join(', ')], // prettier-ignore
                  ]}
                />
              </Card>
            ),
          },
        ]}
      />
      <WhyDialog
        invoice={invoice}
        line={invoice.line_items?.find(({ id }) => id === state.line) ?? null}
        zone={zone}
        onClose={() => setState({ line: '' })}
      />
    </Stack>
  );
}
