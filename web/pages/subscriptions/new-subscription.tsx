import { queryOptions, useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useWatch } from 'react-hook-form';
import * as z from 'zod';
import { CouponField } from '../../app/billing/coupon-field.tsx';
import { CustomerField } from '../../app/billing/customer-field.tsx';
import { StartPreviewLater } from '../../app/billing/start-preview-later.tsx';
import { customerQuery } from '../../app/customer-query.ts';
import { midnight } from '../../app/range.ts';
import { answerOf, api } from '../../client/api.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { FieldRow, SelectField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Card, Page, Row, Stack } from '../../ui/page.tsx';
import { Failure, Loaded } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { notify } from '../../ui/toasts.tsx';
import { useUrlState } from '../../ui/url-state.ts';
import { PhaseFields, Phases, phasesOf } from './phase-fields.tsx';
import { useStartDay } from './start-day.ts';
import { BILLING_CYCLES, COLLECTION_METHODS } from '../../../schemas/words.ts';

const PERIODS = ['MONTHLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL', 'WEEKLY', 'DAILY'] as const;
const PLANS_SHOWN = 200;
/** `terms` are those that are previewed, as JSON: a page that is opened again has them. */
const STATE = { customer_id: '', plan_id: '', terms: '' };

const Body = z.object({
  customer_id: z.string().min(1, 'choose a customer'),
  plan_id: z.string().min(1, 'choose a plan'),
  currency: z
    .string()
    .regex(/^[A-Za-z0-9]{3}$/, 'expected a currency code of three letters')
    .transform((code) => code.toLowerCase()),
  billing_period: z.enum(PERIODS),
  billing_cycle: z.enum(BILLING_CYCLES),
  collection_method: z.enum(COLLECTION_METHODS),
  start_day: z.string().min(1, 'is required'),
  coupon_id: z.string(),
  phases: z.array(PhaseFields).max(20),
  trial_days: z.string().regex(/^\d{0,4}$/, 'must be a number of days'),
});

type Body = z.output<typeof Body>;

/** The terms that an address carries; null if it has none. */
function termsOf(text: string): Body | null {
  try {
    return Body.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** The request for a subscription with the terms. Days begin at midnight of the customer's zone. */
async function requestOf(queries: QueryClient, terms: Body) {
  const { start_day, trial_days, coupon_id, phases, ...written } = terms;
  const { timezone: zone } = await queries.ensureQueryData(customerQuery(terms.customer_id));
  return {
    ...written,
    billing_period_count: 1,
    start_date: midnight(start_day, zone),
    ...(coupon_id === '' ? {} : { coupons: [coupon_id] }),
    ...(trial_days === '' ? {} : { trial_period_days: Number(trial_days) }),
    ...phasesOf(start_day, phases, zone),
  };
}

/** The invoices that result from the terms. */
const previewQuery = (queries: QueryClient, terms: Body) =>
  queryOptions({
    queryKey: ['subscription-preview', terms],
    queryFn: async ({ signal }) =>
      await answerOf(
        api.POST('/subscriptions/preview', { body: await requestOf(queries, terms), signal }),
      ),
  });

/** A subscription in two steps: its terms, and the invoices that result from them. */
export function View() {
  const [state, setState] = useUrlState(STATE);
  const [terms, setTerms] = useState<Body>(
    () =>
      termsOf(state.terms) ?? {
        customer_id: state.customer_id,
        plan_id: state.plan_id,
        currency: 'USD',
        billing_period: 'MONTHLY',
        billing_cycle: 'anniversary',
        collection_method: 'send_invoice',
        start_day: '',
        trial_days: '',
        coupon_id: '',
        phases: [],
      },
  );
  const isPreview = state.terms !== '';
  return (
    <Page
      title="New subscription"
      crumbs={[{ label: 'Subscriptions', to: '/subscriptions' }]}
      description={
        isPreview
          ? 'Step 2 of 2: invoice preview. Nothing is billed until you start the subscription.'
          : 'Step 1 of 2: terms. Nothing is billed yet.'
      }
    >
      {isPreview ? (
        <Result terms={terms} onBack={() => setState({ terms: '' })} />
      ) : (
        <Terms
          terms={terms}
          onPreviewed={(written) => {
            setTerms(written);
            setState({ terms: JSON.stringify(written) }, 'step');
          }}
        />
      )}
    </Page>
  );
}

function Terms({
  terms: before,
  onPreviewed,
}: {
  readonly terms: Body;
  readonly onPreviewed: (terms: Body) => void;
}) {
  const plans = useQuery({
    queryKey: ['plans-to-choose'],
    queryFn: ({ signal }) =>
      answerOf(api.POST('/plans/search', { body: { limit: PLANS_SHOWN }, signal })),
  });
  const form = useApiForm(Body, before);
  const chosenPlan = useWatch({ control: form.control, name: 'plan_id' });
  const chosenCustomer = useWatch({ control: form.control, name: 'customer_id' });
  const queries = useQueryClient();
  const customer = useQuery({ ...customerQuery(chosenCustomer), enabled: chosenCustomer !== '' });
  useStartDay(form, customer.data);
  const { control } = form;
  return (
    <Loaded query={plans} what="plans">
      {({ items }) => (
        <Card>
          <Form
            form={form}
            submit="Preview the invoice"
            secondary={<ButtonLink to="/subscriptions">Cancel</ButtonLink>}
            onSubmit={async (written) => {
              await queries.fetchQuery(previewQuery(queries, written));
              onPreviewed(written);
            }}
          >
            <CustomerField control={control} name="customer_id" />
            <SelectField
              control={control}
              name="plan_id"
              label="Plan"
              isRequired
              choices={[['', 'Choose a plan'], ...items.map(({ id, name }) => [id, name] as const)]}
            />
            <FieldRow>
              <SelectField
                control={control}
                name="billing_period"
                label="Billing period"
                isRequired
                choices={PERIODS.map((word) => [word, formatWord(word)] as const)}
              />
              <TextField
                control={control}
                name="currency"
                label="Currency"
                kind="currency"
                isRequired
              />
            </FieldRow>
            <FieldRow>
              <TextField
                control={control}
                name="start_day"
                label="Start date"
                kind="date"
                hint={`Midnight, ${customer.data?.timezone ?? 'in the time zone of the customer'}.`}
                isRequired
              />
              <TextField control={control} name="trial_days" label="Trial (days)" kind="decimal" />
            </FieldRow>
            <SelectField
              control={control}
              name="billing_cycle"
              label="Billing cycle"
              isRequired
              choices={[
                ['anniversary', 'On the day of the start'],
                ['calendar', 'With the calendar month'],
              ]}
            />
            <SelectField
              control={control}
              name="collection_method"
              label="Invoices"
              isRequired
              choices={[
                ['send_invoice', 'Send invoice'],
                ['charge_automatically', 'Charge automatically'],
              ]}
            />
            <CouponField control={control} name="coupon_id" by="id" />
            <Phases control={control} planId={chosenPlan} />
          </Form>
        </Card>
      )}
    </Loaded>
  );
}

function Result({ terms, onBack }: { readonly terms: Body; readonly onBack: () => void }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [failure, setFailure] = useState<Error | null>(null);
  const [isBusy, setBusy] = useState(false);
  // Pressed again after a failure, a button answers the subscription that was made.
  const [key] = useState(() => crypto.randomUUID());
  const query = useQuery(previewQuery(queries, terms));
  const create = async (more: { readonly subscription_status?: 'draft' }): Promise<void> => {
    setBusy(true);
    setFailure(null);
    try {
      const body = { ...(await requestOf(queries, terms)), ...more };
      const headers = { 'idempotency-key': `${more.subscription_status ?? 'started'}-${key}` };
      const { id } = await answerOf(api.POST('/subscriptions', { body, headers }));
      notify(more.subscription_status === 'draft' ? 'Draft saved' : 'Subscription started');
      await navigate({ to: `/subscriptions/${id}` });
      // Not before: this page would ask for its preview again.
      await queries.invalidateQueries();
    } catch (error) {
      setFailure(error as Error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Loaded query={query} what="the preview of the invoices">
      {(preview) => (
        <Stack>
          <StartPreviewLater preview={preview} />
          {failure === null ? null : <Failure error={failure} />}
          <Row>
            <Button tone="primary" isDisabled={isBusy} onPress={() => void create({})}>
              Start subscription
            </Button>
            <Button isDisabled={isBusy} onPress={onBack}>
              Change the terms
            </Button>
            {/* A draft takes no phases. */}
            {terms.phases.length > 0 ? null : (
              <Button
                isDisabled={isBusy}
                onPress={() => void create({ subscription_status: 'draft' })}
              >
                Save as a draft
              </Button>
            )}
          </Row>
        </Stack>
      )}
    </Loaded>
  );
}
