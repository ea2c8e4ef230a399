import { useQuery } from '@tanstack/react-query';
import { ExternalLink } from 'lucide-react';
import { useState } from 'react';
import * as z from 'zod';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { SelectField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Money } from '../../ui/money.tsx';
import { Row, Stack } from '../../ui/page.tsx';
import { EmptyState, Loaded } from '../../ui/query-state.tsx';
import { Time } from '../../ui/time.tsx';

type Invoice = ApiRecord<'Invoice'>;

const PROVIDERS = ['stripe', 'razorpay', 'test'] as const;
type Provider = (typeof PROVIDERS)[number];
const NAMES = { stripe: 'Stripe', razorpay: 'Razorpay', test: 'Test gateway' } as const;
const CONNECTIONS = 200;
const PAYMENTS = 50;
const PENDING: ReadonlySet<string> = new Set(['INITIATED', 'PENDING', 'PROCESSING']);

/** Makes the page on which the customer pays what is open, and gives its address as long as it can be paid. */
export function PaymentLink({
  invoice,
  onDone,
}: {
  readonly invoice: Invoice;
  readonly onDone: () => void;
}) {
  const query = useQuery({
    queryKey: ['payment-link', invoice.id],
    // A link that was made since is found when the dialog is opened again.
    gcTime: 0,
    queryFn: async ({ signal }) => {
      const [{ connections }, session] = await Promise.all([
        answerOf(api.POST('/connections/search', { body: { limit: CONNECTIONS }, signal })),
        openSession(invoice.id, signal),
      ]);
      const providers = PROVIDERS.filter((provider) =>
        connections.some(({ provider_type }) => provider_type === provider),
      );
      return { providers, session };
    },
  });
  return (
    <Loaded query={query} what="payment gateways">
      {({ providers, session }) => {
        if (session !== null) return <Made session={session} onDone={onDone} />;
        return providers.length === 0 ? (
          <EmptyState
            title="No payment gateway is connected"
            action={
              <ButtonLink to="/connections" tone="primary">
                Connect a gateway
              </ButtonLink>
            }
          >
            The customer pays on the gateway’s payment page.
          </EmptyState>
        ) : (
          <MakeLink invoice={invoice} providers={providers} onDone={onDone} />
        );
      }}
    </Loaded>
  );
}

/** The payment page that the invoice has already; null if it has none that can be paid. */
async function openSession(
  invoiceId: string,
  signal: AbortSignal,
): Promise<ApiRecord<'CheckoutSession'> | null> {
  const { items } = await answerOf(
    api.POST('/payments/search', {
      body: { destination_id: invoiceId, payment_method_type: 'PAYMENT_LINK', limit: PAYMENTS },
      signal,
    }),
  );
  const id = items.find(({ payment_status }) => PENDING.has(payment_status))?.metadata[
    'checkout_session_id'
  ];
  if (id === undefined) return null;
  const session = await answerOf(
    api.GET('/checkout/sessions/{id}', { params: { path: { id } }, signal }),
  );
  return session.terminal || session.payment_action === null ? null : session;
}

const Body = z.object({ provider: z.enum(PROVIDERS) });

function MakeLink({
  invoice,
  providers,
  onDone,
}: {
  readonly invoice: Invoice;
  readonly providers: readonly Provider[];
  readonly onDone: () => void;
}) {
  const [session, setSession] = useState<ApiRecord<'CheckoutSession'> | null>(null);
  const [key] = useState(() => crypto.randomUUID());
  const form = useApiForm(Body, { provider: providers[0]! });
  if (session !== null) return <Made session={session} onDone={onDone} />;
  return (
    <Form
      form={form}
      submit="Create payment link"
      onSubmit={async ({ provider }) => {
        setSession(
          await answerOf(
            api.POST('/checkout/sessions', {
              body: {
                customer_external_id: invoice.customer!.external_id,
                action: 'pay_invoice',
                payment_provider: provider,
                idempotency_key: key,
                configuration: { pay_invoice_params: { invoice_id: invoice.id } },
              },
            }),
          ),
        );
      }}
    >
      <p>
        The customer pays the open{' '}
        <Money amount={invoice.amount_remaining} currency={invoice.currency} /> on a page of the
        gateway. You get its address and send it to the customer.
      </p>
      <SelectField
        control={form.control}
        name="provider"
        label="Payment gateway"
        isRequired
        choices={providers.map((provider) => [provider, NAMES[provider]] as const)}
      />
    </Form>
  );
}

function Made({
  session,
  onDone,
}: {
  readonly session: ApiRecord<'CheckoutSession'>;
  readonly onDone: () => void;
}) {
  const address = session.payment_action?.url ?? null;
  if (address === null)
    return <p>The payment page is not ready yet. Open this dialog again in a moment.</p>;
  return (
    <Stack>
      <p>
        Send this address to the customer. It can be paid until <Time at={session.expires_at} />.
      </p>
      <CodeBlock label="Payment link" text={address} />
      <p>
        <a href={address} target="_blank" rel="noreferrer">
          Open the payment page <ExternalLink size={13} aria-hidden />
        </a>
      </p>
      <Row>
        <Button autoFocus onPress={onDone}>
          Done
        </Button>
      </Row>
    </Stack>
  );
}
