import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import * as z from 'zod';
import { answerOf } from '../client/api.ts';
import { portalApi } from '../client/portal-api.ts';
import { Refusal } from '../client/refusal.ts';
import { SelectField } from '../ui/fields.tsx';
import { Form, useApiForm } from '../ui/form.tsx';
import { Stack } from '../ui/page.tsx';
import { EmptyState, Loaded } from '../ui/query-state.tsx';
import { formatMoney } from '../ui/text.ts';
import { notify } from '../ui/toasts.tsx';
import { methodInWords } from './methods.ts';
import { PaymentPage } from './payment-page.tsx';
import { usePortal } from './portal.ts';
import { gatewaysQuery, methodsQuery, type Invoice, type Method, type Session } from './queries.ts';

const Body = z.object({ payment_method_id: z.string() });

/** Pays the open amount: with a saved method at once, or on a payment page. */
export function PayInvoice({
  invoice,
  onDone,
}: {
  readonly invoice: Invoice;
  readonly onDone: () => void;
}) {
  const { seller } = usePortal();
  const methods = useQuery(methodsQuery());
  const gateways = useQuery(gatewaysQuery());
  return (
    <Loaded query={gateways} what="the ways to pay">
      {({ items }) =>
        items.length === 0 ? (
          <EmptyState title="Online payment is not available">
            {seller.name} takes no payments in this portal. Pay as the invoice says, or ask{' '}
            {seller.name}.
          </EmptyState>
        ) : (
          <Loaded query={methods} what="your payment methods">
            {(saved) => <PayForm invoice={invoice} methods={saved.items} onDone={onDone} />}
          </Loaded>
        )
      }
    </Loaded>
  );
}

function PayForm({
  invoice,
  methods,
  onDone,
}: {
  readonly invoice: Invoice;
  readonly methods: readonly Method[];
  readonly onDone: () => void;
}) {
  const queries = useQueryClient();
  const [session, setSession] = useState<Session | null>(null);
  const form = useApiForm(Body, {
    payment_method_id: methods.find(({ is_default }) => is_default)?.id ?? '',
  });
  const amount = formatMoney(invoice.amount_remaining, invoice.currency);
  if (session !== null)
    return (
      <PaymentPage
        session={session}
        onPaid={async () => {
          notify(`${amount} paid`);
          await queries.invalidateQueries();
          onDone();
        }}
        onAgain={() => setSession(null)}
      />
    );
  return (
    <Form
      form={form}
      submit={`Pay ${amount}`}
      onSubmit={async ({ payment_method_id }) => {
        const { payment, checkout_session } = await answerOf(
          portalApi.POST('/customer/portal/invoices/{id}/pay', {
            params: { path: { id: invoice.id } },
            body: payment_method_id === '' ? {} : { payment_method_id },
          }),
        );
        if (checkout_session !== null) return setSession(checkout_session);
        await queries.invalidateQueries();
        if (payment.payment_status === 'FAILED') throw declined(payment.error_message);
        notify(
          payment.payment_status === 'SUCCEEDED'
            ? `${amount} paid`
            : 'The payment is under way; the invoice shows it as soon as it is confirmed',
        );
        onDone();
      }}
    >
      <Stack>
        <SelectField
          control={form.control}
          name="payment_method_id"
          label="Pay with"
          isRequired
          choices={[
            ...methods.map((method) => [method.id, methodInWords(method)] as const),
            ['', 'Another card, on a payment page'],
          ]}
        />
      </Stack>
    </Form>
  );
}

const declined = (reason: string | null): Refusal =>
  new Refusal(0, {
    code: 'declined',
    message: `The payment was declined${reason === null ? '' : ` (${reason.replaceAll('_', ' ')})`}. Nothing was charged. Choose another way to pay.`,
  });
