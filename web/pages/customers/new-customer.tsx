import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { CreateCustomerBody } from '../../../schemas/customer.ts';
import { useSignedIn } from '../../app/person.tsx';
import { answerOf, api } from '../../client/api.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { FieldRow, SelectField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { formatTime } from '../../ui/text.ts';
import { notify } from '../../ui/toasts.tsx';
import { useUrlState } from '../../ui/url-state.ts';

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
          <TextField control={control} name="name" label="Name" isRequired autoFocus />
          <TextField
            control={control}
            name="external_id"
            label="External id"
            hint="The id that your events carry as external_customer_id."
            isRequired
          />
          <TextField control={control} name="email" label="E-mail" kind="email" />
          <FieldRow>
            <TextField
              control={control}
              name="timezone"
              label="Time zone"
              hint="Days and months of invoices begin at its midnight."
            />
            <TextField
              control={control}
              name="billing_currency"
              label="Currency"
              placeholder="usd"
            />
          </FieldRow>
          <TextField control={control} name="address_line1" label="Address" />
          <TextField control={control} name="address_line2" label="Address, second line" />
          <FieldRow>
            <TextField control={control} name="address_postal_code" label="Postal code" />
            <TextField control={control} name="address_city" label="City" />
          </FieldRow>
          <FieldRow>
            <TextField control={control} name="address_state" label="State" />
            <TextField
              control={control}
              name="address_country"
              label="Country"
              hint="Two letters, for example BE."
            />
          </FieldRow>
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
