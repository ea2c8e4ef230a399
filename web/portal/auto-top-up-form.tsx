import { useWatch } from 'react-hook-form';
import * as z from 'zod';
import { priceOfCredits, typed } from '../app/billing/amounts.ts';
import { answerOf } from '../client/api.ts';
import { portalApi } from '../client/portal-api.ts';
import { Facts } from '../ui/facts.tsx';
import { CheckboxField, TextField } from '../ui/fields.tsx';
import { Form, useApiForm } from '../ui/form.tsx';
import { Money } from '../ui/money.tsx';
import type { Wallet } from './queries.ts';

const isDecimal = (text: string): boolean => typed(text) !== null;

/** The fields hold text; the server reads the numbers. */
const Body = z
  .object({ enabled: z.boolean(), threshold: z.string(), amount: z.string() })
  .superRefine(({ enabled, ...numbers }, context) => {
    if (!enabled) return;
    for (const [path, text] of Object.entries(numbers))
      if (!isDecimal(text))
        context.addIssue({ code: 'custom', path: [path], message: 'must be a number' });
  });

/** When the wallet is filled without asking, and by how much. */
export function AutoTopUpForm({
  wallet,
  onDone,
}: {
  readonly wallet: Wallet;
  readonly onDone: () => Promise<void>;
}) {
  const { auto_topup } = wallet;
  const form = useApiForm(Body, {
    enabled: auto_topup?.enabled ?? false,
    threshold: String(auto_topup?.threshold ?? ''),
    amount: String(auto_topup?.amount ?? ''),
  });
  const isOn = useWatch({ control: form.control, name: 'enabled' }) === true;
  const amount = useWatch({ control: form.control, name: 'amount' });
  const price = priceOfCredits(amount, wallet.topup_conversion_rate);
  return (
    <Form
      form={form}
      submit="Save"
      onSubmit={async ({ enabled, ...numbers }) => {
        await answerOf(
          portalApi.PUT('/customer/portal/wallets/{id}/auto-topup', {
            params: { path: { id: wallet.id } },
            body: enabled === true ? { enabled, ...numbers } : { enabled: false },
          }),
        );
        await onDone();
      }}
    >
      <CheckboxField
        control={form.control}
        name="enabled"
        label="Buy credits automatically"
        hint="You get an invoice each time. It is charged to your default payment method, usually at most once an hour; without one you pay it here."
      />
      <TextField
        control={form.control}
        name="threshold"
        label="When this many credits or fewer are left"
        kind="decimal"
        isRequired
        isDisabled={!isOn}
      />
      <TextField
        control={form.control}
        name="amount"
        label="Credits to buy each time"
        kind="decimal"
        isRequired
        isDisabled={!isOn}
      />
      {isOn && typed(amount) !== null ? (
        <Facts
          of={[
            [
              'Price each time, before tax',
              <Money key="price" amount={price} currency={wallet.currency} />,
            ],
          ]}
        />
      ) : null}
    </Form>
  );
}
