import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useWatch } from 'react-hook-form';
import * as z from 'zod';
import { decimalText, ZERO } from '../../../domain/money.ts';
import { typed } from '../../app/billing/amounts.ts';
import { answerOf, api } from '../../client/api.ts';
import { CustomerField } from '../../app/billing/customer-field.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { FieldRow, SelectField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { formatCurrency, formatMoney } from '../../ui/text.ts';
import { notify } from '../../ui/toasts.tsx';
import { useUrlState } from '../../ui/url-state.ts';
import { WALLET_TYPES } from '../../../schemas/words.ts';

const Body = z.object({
  customer_id: z.string().min(1, 'is required'),
  name: z.string().max(255),
  currency: z
    .string()
    .regex(/^[A-Za-z0-9]{3}$/, 'expected a currency code of three letters')
    .transform((code) => code.toLowerCase()),
  wallet_type: z.enum(WALLET_TYPES),
  conversion_rate: z.string().min(1, 'is required'),
  initial_credits_to_load: z.string(),
});

const STATE = { customer_id: '' };

/** Opens a wallet for a customer. */
export function View() {
  const [{ customer_id }] = useUrlState(STATE);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const form = useApiForm(Body, {
    customer_id,
    name: '',
    currency: 'USD',
    wallet_type: 'PRE_PAID',
    conversion_rate: '1',
    initial_credits_to_load: '',
  });
  const { control } = form;
  const [currency, rate, credits] = useWatch({
    control,
    name: ['currency', 'conversion_rate', 'initial_credits_to_load'],
  });
  const code = formatCurrency(currency);
  const worth = decimalText((typed(credits) ?? ZERO).times(typed(rate) ?? ZERO));
  return (
    <Page title="New wallet" crumbs={[{ label: 'Wallets', to: '/wallets' }]}>
      <Card>
        <Form
          form={form}
          submit="Create wallet"
          secondary={<ButtonLink to="/wallets">Cancel</ButtonLink>}
          onSubmit={async ({ initial_credits_to_load, name, ...values }) => {
            const wallet = await answerOf(
              api.POST('/wallets', {
                body: {
                  ...values,
                  ...(name === '' ? {} : { name }),
                  ...(initial_credits_to_load === '' ? {} : { initial_credits_to_load }),
                },
              }),
            );
            notify('Wallet created');
            await queries.invalidateQueries();
            await navigate({ to: `/wallets/${wallet.id}` });
          }}
        >
          <CustomerField control={control} name="customer_id" />
          <TextField control={control} name="name" label="Name" />
          <FieldRow>
            <TextField
              control={control}
              name="currency"
              label="Currency"
              kind="currency"
              isRequired
            />
            <SelectField
              control={control}
              name="wallet_type"
              label="Type"
              isRequired
              choices={[
                ['PRE_PAID', 'Prepaid'],
                ['POST_PAID', 'Postpaid'],
              ]}
            />
          </FieldRow>
          <FieldRow>
            <TextField
              control={control}
              name="conversion_rate"
              label={`Value of one credit in ${code}`}
              kind="decimal"
              isRequired
            />
            <TextField
              control={control}
              name="initial_credits_to_load"
              label="Initial free credits"
              hint={`Worth ${formatMoney(worth, currency)}. Empty: none.`}
              kind="decimal"
            />
          </FieldRow>
        </Form>
      </Card>
    </Page>
  );
}
