import { useQuery } from '@tanstack/react-query';
import { ExternalLink } from 'lucide-react';
import { useState } from 'react';
import * as z from 'zod';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { SelectField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Row, Stack } from '../../ui/page.tsx';
import { EmptyState, Loaded } from '../../ui/query-state.tsx';
import { Time } from '../../ui/time.tsx';

type Invoice = ApiRecord<'Invoice'>;

const PROVIDERS = ['stripe', 'razorpay', 'test'] as const;
type Provider = (typeof PROVIDERS)[number];
const NAMES = { stripe: 'Stripe', razorpay: 'Razorpay', test: 'Test gateway' } as const;
const CONNECTIONS = 200;

/** Makes the page on which the customer pays what is open, and gives its address. */
export function PaymentLink({
  invoice,
  onDone,
}: {
  readonly invoice: Invoice;
  readonly onDone: () => void;
}) {
  const connections = useQuery({
    queryKey: ['connections-to-pay'],
    queryFn: ({ signal }) =>
      answerOf(api.POST('/connections/search', { body: { limit: CONNECTIONS }, signal })),
  });
  return (
    <Loaded query={connections} what="payment gateways">
      {({ connections: found }) => {
        const offered = PROVIDERS.filter((provider) =>
          found.some(({ provider_type }) => provider_type === provider),
        );
        return offered.length === 0 ? (
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
          <MakeLink invoice={invoice} providers={offered} onDone={onDone} />
        );
      }}
    </Loaded>
  );
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
