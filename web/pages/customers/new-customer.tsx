import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { CreateCustomerBody } from '../../../schemas/customer.ts';
import { useSignedIn } from '../../app/person.tsx';
import { answerOf, api } from '../../client/api.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { SelectField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { formatTime } from '../../ui/text.ts';
import { notify } from '../../ui/toasts.tsx';
import { useUrlState } from '../../ui/url-state.ts';
import { CustomerFields } from './customer-fields.tsx';

const STATE = { test_clock_id: '' };
const CLOCKS_SHOWN = 200;

const browserZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';

/** Creates a customer. Its external id is what events name. */
export function View() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { environment } = useSignedIn();
  const [{ test_clock_id }] = useUrlState(STATE);
  const clocks = useQuery({
    queryKey: ['test-clocks-to-choose'],
    enabled: environment.type !== 'production',
    queryFn: ({ signal }) =>
      answerOf(api.POST('/test-clocks/search', { body: { limit: CLOCKS_SHOWN }, signal })),
  });
  const offered = (clocks.data?.items ?? []).filter(({ status }) => status !== 'archived');
  const form = useApiForm(CreateCustomerBody, {
    name: '',
    external_id: '',
    email: '',
    timezone: browserZone(),
    billing_currency: '',
    tax_treatment: 'taxable',
    address_line1: '',
    address_line2: '',
    address_postal_code: '',
    address_city: '',
    address_state: '',
    address_country: '',
    test_clock_id,
  });
  const { control } = form;
  return (
    <Page title="New customer" crumbs={[{ label: 'Customers', to: '/customers' }]}>
      <Card>
        <Form
          form={form}
          submit="Create customer"
          secondary={<ButtonLink to="/customers">Cancel</ButtonLink>}
          onSubmit={async (body) => {
            const customer = await answerOf(
              api.POST('/customers', {
                body: {
                  ...body,
                  test_clock_id: body.test_clock_id === '' ? null : (body.test_clock_id ?? null),
                  metadata: {},
                  integration_entity_mapping: null,
                  tax_rate_overrides: null,
                },
              }),
            );
            notify('Customer created');
            await queries.invalidateQueries();
            await navigate({ to: `/customers/${customer.id}` });
          }}
        >
          <CustomerFields control={control} />
          {offered.length === 0 && test_clock_id === '' ? null : (
            <SelectField
              control={control}
              name="test_clock_id"
              label="Test clock"
              hint="The customer follows the time of this clock. It cannot be changed later."
              choices={[
                ['', 'None (real time)'],
                ...offered.map(
                  ({ id, name, now }) =>
                    [id, `${name ?? 'Test clock'}, now ${formatTime(now, 'UTC')}`] as const,
                ),
              ]}
            />
          )}
        </Form>
      </Card>
    </Page>
  );
}
