import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useWatch } from 'react-hook-form';
import * as z from 'zod';
import { ZERO } from '../../domain/money.ts';
import { priceOfCredits, sumOf, typed } from '../app/billing/amounts.ts';
import { answerOf } from '../client/api.ts';
import { portalApi } from '../client/portal-api.ts';
import { Facts } from '../ui/facts.tsx';
import { TextField } from '../ui/fields.tsx';
import { Form, useApiForm } from '../ui/form.tsx';
import { Money, Quantity } from '../ui/money.tsx';
import { EmptyState, Loaded } from '../ui/query-state.tsx';
import { PaymentPage } from './payment-page.tsx';
import { usePortal } from './portal.ts';
import { gatewaysQuery, type Session, type Wallet } from './queries.ts';

const Body = z.object({
  credits_to_add: z
    .string()
    .refine((text) => typed(text)?.gt(ZERO) === true, 'must be a number above 0'),
});

interface Props {
  readonly wallet: Wallet;
  readonly onDone: () => Promise<void>;
}

/** Buys credits on a payment page; they are there once they are paid. */
export function TopUp(props: Props) {
  const { seller } = usePortal();
  const query = useQuery(gatewaysQuery());
  return (
    <Loaded query={query} what="the ways to pay">
      {({ items }) =>
        items.length === 0 ? (
          <EmptyState title="Online purchase is not available">
            {seller.name} takes no payments in this portal. Ask {seller.name} for credits.
          </EmptyState>
        ) : (
          <TopUpForm {...props} />
        )
      }
    </Loaded>
  );
}

function TopUpForm({ wallet, onDone }: Props) {
  const form = useApiForm(Body, { credits_to_add: '' });
  const [session, setSession] = useState<Session | null>(null);
  const [key, setKey] = useState(() => crypto.randomUUID());
  const credits = useWatch({ control: form.control, name: 'credits_to_add' });
  const price = priceOfCredits(credits, wallet.topup_conversion_rate);
  if (session !== null)
    return (
      <PaymentPage
        session={session}
        onPaid={onDone}
        onAgain={() => {
          setKey(crypto.randomUUID());
          setSession(null);
        }}
      />
    );
  return (
    <Form
      form={form}
      submit="Continue to payment"
      onSubmit={async ({ credits_to_add }) => {
        const { checkout_session } = await answerOf(
          portalApi.POST('/customer/portal/wallets/{id}/top-up', {
            params: { path: { id: wallet.id } },
            body: { credits_to_add: credits_to_add.trim(), idempotency_key: key },
          }),
        );
        if (checkout_session === null) await onDone();
        else setSession(checkout_session);
      }}
    >
      <TextField
        control={form.control}
        name="credits_to_add"
        label="Credits"
        kind="decimal"
        isRequired
        autoFocus
      />
      <Facts
        of={[
          ['Price before tax', <Money key="price" amount={price} currency={wallet.currency} />],
          ['Credits now', <Quantity key="now" value={wallet.credit_balance} />],
          ['Credits after it', <Quantity key="after" value={sumOf([wallet.credit_balance, credits])} />], // prettier-ignore
        ]}
      />
    </Form>
  );
}
