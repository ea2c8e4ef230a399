import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { UpdateCustomerBody } from '../../../schemas/customer.ts';
import { customerQuery } from '../../app/customer-query.ts';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { formatCurrency } from '../../ui/text.ts';
import { notify } from '../../ui/toasts.tsx';
import { CustomerFields } from './customer-fields.tsx';

type Customer = ApiRecord<'Customer'>;

/** Changes a customer. Finalized documents keep what they say. */
export function View() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const query = useQuery(customerQuery(id));
  return (
    <Page
      title="Edit customer"
      crumbs={[
        { label: 'Customers', to: '/customers' },
        { label: query.data?.name ?? 'Customer', to: `/customers/${id}` },
      ]}
    >
      <Loaded query={query} what="the customer">
        {(customer) => <Editor customer={customer} />}
      </Loaded>
    </Page>
  );
}

function Editor({ customer }: { readonly customer: Customer }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const form = useApiForm(UpdateCustomerBody, {
    name: customer.name,
    external_id: customer.external_id,
    email: customer.email ?? '',
    timezone: customer.timezone,
    billing_currency: formatCurrency(customer.billing_currency ?? ''),
    tax_treatment: customer.tax_treatment,
    address_line1: customer.address_line1 ?? '',
    address_line2: customer.address_line2 ?? '',
    address_postal_code: customer.address_postal_code ?? '',
    address_city: customer.address_city ?? '',
    address_state: customer.address_state ?? '',
    address_country: customer.address_country ?? '',
  });
  const to = `/customers/${customer.id}`;
  return (
    <Card>
      <Form
        form={form}
        submit="Save customer"
        secondary={<ButtonLink to={to}>Cancel</ButtonLink>}
        onSubmit={async (body) => {
          const params = { path: { id: customer.id } };
          await answerOf(api.PUT('/customers/{id}', { params, body: body as never }));
          notify('Customer saved');
          await queries.invalidateQueries();
          await navigate({ to });
        }}
      >
        <CustomerFields control={form.control} />
      </Form>
    </Card>
  );
}
