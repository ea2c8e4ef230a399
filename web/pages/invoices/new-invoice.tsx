import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useWatch } from 'react-hook-form';
import * as z from 'zod';
import { sumOf } from '../../app/billing/amounts.ts';
import { CouponField } from '../../app/billing/coupon-field.tsx';
import { CustomerField } from '../../app/billing/customer-field.tsx';
import { PreviewedInvoice } from '../../app/billing/invoice-preview.tsx';
import { customerQuery } from '../../app/customer-query.ts';
import { midnight } from '../../app/range.ts';
import { TaxRateField } from '../../app/taxes/tax-rate-field.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { FieldRow, TextAreaField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Money } from '../../ui/money.tsx';
import { Card, Page, Stack } from '../../ui/page.tsx';
import { Awaiting } from '../../ui/query-state.tsx';
import { formatCurrency } from '../../ui/text.ts';
import { notify } from '../../ui/toasts.tsx';
import { useUrlState } from '../../ui/url-state.ts';
import { amountOrNothing, amountText } from './amount-text.ts';
import { EMPTY_ROW, RowFields } from './row-fields.tsx';
import styles from './new-invoice.module.css';

/** Names are those of the request, so that a refusal stands at its field. */
const Body = z.object({
  customer_id: z.string().min(1, 'choose a customer'),
  currency: z
    .string()
    .regex(/^[A-Za-z]{3}$/, 'expected a currency code of three letters')
    .transform((code) => code.toLowerCase()),
  due_date: z.string(),
  line_items: z.array(
    z.object({
      row_id: z.string(),
      display_name: z.string().trim().min(1, 'is required').max(255),
      quantity: amountOrNothing,
      amount: amountText,
    }),
  ),
  coupon_id: z.string(),
  tax_rate_code: z.string(),
  description: z.string().max(5_000),
});
type Body = z.output<typeof Body>;

const STATE = { customer_id: '' };

/** Issues an invoice of line items that are written here, after a look at it: the server numbers it at once. */
export function View() {
  const [{ customer_id }] = useUrlState(STATE);
  const customer = useQuery({ ...customerQuery(customer_id), enabled: customer_id !== '' });
  return (
    <Page title="New invoice" crumbs={[{ label: 'Invoices', to: '/invoices' }]}>
      <Card>
        {customer.isLoading ? (
          <Awaiting what="the customer" />
        ) : (
          <Editor customer={customer.data ?? null} />
        )}
      </Card>
    </Page>
  );
}

function Editor({ customer: given }: { readonly customer: ApiRecord<'Customer'> | null }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [key] = useState(() => crypto.randomUUID());
  const form = useApiForm(Body, {
    customer_id: given?.id ?? '',
    currency: formatCurrency(given?.billing_currency || 'usd'),
    due_date: '',
    line_items: [EMPTY_ROW],
    ...{ coupon_id: '', tax_rate_code: '', description: '' },
  });
  const { control } = form;
  const [id, currency, rows] = useWatch({
    control,
    name: ['customer_id', 'currency', 'line_items'],
  });
  const chosen = useQuery({ ...customerQuery(id), enabled: id !== '' });
  const zone = chosen.data?.timezone ?? 'UTC';
  const customerCurrency = chosen.data?.billing_currency;
  const hasOwnCurrency = form.formState.dirtyFields.currency === true;
  useEffect(() => {
    if (customerCurrency && !hasOwnCurrency)
      form.setValue('currency', formatCurrency(customerCurrency));
  }, [form, customerCurrency, hasOwnCurrency]);
  const [preview, setPreview] = useState<Preview | null>(null);
  return (
    <Form
      form={form}
      isWide
      submit="Preview the invoice"
      secondary={
        <ButtonLink to={given === null ? '/invoices' : `/customers/${given.id}`}>Cancel</ButtonLink>
      }
      onSubmit={async (written) => {
        const body = bodyOf(written, zone);
        const invoice = await answerOf(api.POST('/invoices/one-off/preview', { body }));
        setPreview({ body, invoice });
      }}
    >
      <div className={styles.customer}>
        <CustomerField control={control} name="customer_id" />
      </div>
      {id === '' ? null : (
        <>
          <FieldRow>
            <TextField
              control={control}
              name="currency"
              label="Currency"
              kind="currency"
              isRequired
            />
            <TextField
              control={control}
              name="due_date"
              label="Due on"
              hint={`Midnight, ${zone}. Empty: by the settings of invoices.`}
              kind="date"
            />
          </FieldRow>
          <RowFields control={control} path="line_items" currency={currency} />
          <FieldRow>
            <CouponField control={control} name="coupon_id" by="id" />
            <TaxRateField control={control} name="tax_rate_code" isRequired={false} />
          </FieldRow>
          <TextAreaField control={control} name="description" label="Description" rows={2} />
          <Facts
            of={[
              [
                'Subtotal',
                <Money amount={sumOf(rows.map(({ amount }) => amount))} currency={currency} />,
              ],
            ]}
          />
          <p>You see the invoice with its discount and tax before it is issued.</p>
        </>
      )}
      <ConfirmDialog
        title="Issue this invoice?"
        confirm="Issue invoice"
        isOpen={preview !== null}
        onClose={() => setPreview(null)}
        onConfirm={async () => {
          const body = { ...preview!.body, idempotency_key: key };
          const { id: issued } = await answerOf(api.POST('/invoices', { body }));
          notify('Invoice issued');
          await queries.invalidateQueries();
          await navigate({ to: `/invoices/${issued}` });
        }}
      >
        {preview === null ? null : (
          <Stack>
            <PreviewedInvoice invoice={preview.invoice} />
            <p>The invoice gets its number when it is issued.</p>
          </Stack>
        )}
      </ConfirmDialog>
    </Form>
  );
}

/** The request, and the invoice that results from it. */
interface Preview {
  readonly body: ReturnType<typeof bodyOf>;
  readonly invoice: ApiRecord<'Invoice'>;
}

/** Taxes of the customer do not count: the invoice has the one that is chosen. */
function bodyOf({ coupon_id, tax_rate_code, due_date, ...written }: Body, zone: string) {
  const { customer_id, currency, description } = written;
  return {
    ...{ invoice_type: 'ONE_OFF' as const, customer_id, currency, description },
    line_items: written.line_items.map(({ display_name, quantity, amount }) => ({
      display_name,
      amount: amount.trim(),
      quantity: quantity.trim() === '' ? null : quantity.trim(),
    })),
    ...(due_date === '' ? {} : { due_date: midnight(due_date, zone) }),
    ...(coupon_id === '' ? {} : { coupons: [coupon_id] }),
    ...(tax_rate_code === '' ? {} : { tax_rate_overrides: [{ tax_rate_code, currency }] }),
  };
}
