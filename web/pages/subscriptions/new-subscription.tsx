import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useWatch } from 'react-hook-form';
import * as z from 'zod';
import { CouponField } from '../../app/billing/coupon-field.tsx';
import { CustomerField } from '../../app/billing/customer-field.tsx';
import { InvoicePreview } from '../../app/billing/invoice-preview.tsx';
import { customerQuery } from '../../app/customer-query.ts';
import { midnight } from '../../app/range.ts';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { FieldRow, SelectField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Card, Page, Row, Section, Stack } from '../../ui/page.tsx';
import { Failure, Loaded } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { notify } from '../../ui/toasts.tsx';
import { useUrlState } from '../../ui/url-state.ts';
import { PhaseFields, Phases, phasesOf } from './phase-fields.tsx';
import { useStartDay } from './start-day.ts';
import { BILLING_CYCLES, COLLECTION_METHODS } from '../../../schemas/words.ts';

const PERIODS = ['MONTHLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL', 'WEEKLY', 'DAILY'] as const;
const PLANS_SHOWN = 200;
/** `terms` are those of the draft, as JSON: a page that is opened again has them. */
const STATE = { customer_id: '', plan_id: '', draft: '', terms: '' };

const Body = z.object({
  customer_id: z.string().min(1, 'choose a customer'),
  plan_id: z.string().min(1, 'choose a plan'),
  currency: z.string().regex(/^[A-Za-z0-9]{3}$/, 'expected a currency code of three letters'),
  billing_period: z.enum(PERIODS),
  billing_cycle: z.enum(BILLING_CYCLES),
  collection_method: z.enum(COLLECTION_METHODS),
  start_day: z.string().min(1, 'is required'),
  coupon_id: z.string(),
  phases: z.array(PhaseFields).max(20),
  trial_days: z.string().regex(/^\d{0,4}$/, 'must be a number of days'),
});

type Body = z.output<typeof Body>;

const discard = (id: string) =>
  answerOf(api.POST('/subscriptions/{id}/discard', { params: { path: { id } } }));

/** The terms that an address carries; null if it has none. */
function termsOf(text: string): Body | null {
  try {
    return Body.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** The request for a subscription with the terms. Days begin at midnight of the customer's zone. */
function requestOf({ start_day, trial_days, coupon_id, ...written }: Body, zone: string) {
  const { phases: _, ...terms } = written;
  return {
    ...terms,
    billing_period_count: 1,
    start_date: midnight(start_day, zone),
    ...(coupon_id === '' ? {} : { coupons: [coupon_id] }),
    ...(trial_days === '' ? {} : { trial_period_days: Number(trial_days) }),
  };
}

/** A subscription in two steps: its terms, saved as a draft, and the invoice that results from them. */
export function View() {
  const [state, setState] = useUrlState(STATE);
  /** The draft of the terms that were previewed last. The browser's Back leaves it behind. */
  const [draft, setDraft] = useState('');
  const [terms, setTerms] = useState<Body>(
    () =>
      termsOf(state.terms) ?? {
        customer_id: state.customer_id,
        plan_id: state.plan_id,
        currency: 'usd',
        billing_period: 'MONTHLY',
        billing_cycle: 'anniversary',
        collection_method: 'send_invoice',
        start_day: '',
        trial_days: '',
        coupon_id: '',
        phases: [],
      },
  );
  return (
    <Page
      title="New subscription"
      crumbs={[{ label: 'Subscriptions', to: '/subscriptions' }]}
      description={
        state.draft === ''
          ? 'Step 1 of 2: terms. Nothing is billed yet.'
          : 'Step 2 of 2: invoice preview. Nothing is billed until you start the subscription.'
      }
    >
      {state.draft === '' ? (
        <Terms
          terms={terms}
          onDraft={async (made, written) => {
            setTerms(written);
            setState({ draft: made, terms: JSON.stringify(written) }, 'step');
            setDraft(made);
            if (draft !== '') await discard(draft);
          }}
        />
      ) : (
        <Result
          draft={state.draft}
          terms={terms}
          onBack={() => {
            setDraft('');
            setState({ draft: '', terms: '' });
          }}
        />
      )}
    </Page>
  );
}

function Terms({
  terms: before,
  onDraft,
}: {
  readonly terms: Body;
  readonly onDraft: (id: string, terms: Body) => Promise<void>;
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
              const { timezone: zone } = await queries.ensureQueryData(
                customerQuery(written.customer_id),
              );
              // A draft has no phases: they are given when the subscription is started.
              const draft = await answerOf(
                api.POST('/subscriptions', {
                  body: { ...requestOf(written, zone), subscription_status: 'draft' },
                }),
              );
              await onDraft(draft.id, written);
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
              <TextField control={control} name="currency" label="Currency" isRequired />
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
                ['send_invoice', 'Are sent to be paid'],
                ['charge_automatically', 'Are charged to the saved payment method'],
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

function Result({
  draft,
  terms,
  onBack,
}: {
  readonly draft: string;
  readonly terms: Body;
  readonly onBack: () => void;
}) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [failure, setFailure] = useState<Error | null>(null);
  const [isBusy, setBusy] = useState(false);
  const query = useQuery({
    queryKey: ['subscription', draft],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/subscriptions/{id}', { params: { path: { id: draft } }, signal })),
  });
  const params = { path: { id: draft } };
  const hasPhases = terms.phases.length > 0;
  const activate = async (start_date: string): Promise<string> => {
    await answerOf(api.POST('/subscriptions/{id}/activate', { params, body: { start_date } }));
    return draft;
  };
  // A draft takes no phases: the subscription that has them replaces it.
  const create = async (customerId: string): Promise<string> => {
    const { timezone: zone } = await queries.ensureQueryData(customerQuery(customerId));
    const body = { ...requestOf(terms, zone), ...phasesOf(terms.start_day, terms.phases, zone) };
    // Pressed again after a failure, it answers the subscription that was made.
    const headers = { 'idempotency-key': `phases-of-${draft}` };
    const { id } = await answerOf(api.POST('/subscriptions', { body, headers }));
    await discard(draft);
    return id;
  };
  const begin = async (subscription: ApiRecord<'Subscription'>): Promise<void> => {
    const id = hasPhases
      ? await create(subscription.customer_id)
      : await activate(subscription.start_date);
    notify('Subscription started');
    await navigate({ to: `/subscriptions/${id}` });
    // Not before: this page would ask for a draft that is gone.
    await queries.invalidateQueries();
  };
  // Other terms make another draft.
  const back = async (): Promise<void> => {
    await discard(draft);
    onBack();
  };
  const act = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setFailure(null);
    try {
      await work();
    } catch (error) {
      setFailure(error as Error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Loaded query={query} what="the draft">
      {(subscription) => (
        <Stack>
          <Section title="The invoice at the end of the first period">
            <InvoicePreview subscriptionId={draft} />
          </Section>
          <p>
            Usage is counted as it is now. Fees in advance are billed at the start of each period,
            the first time when the subscription begins.
            {hasPhases ? ' The terms of later phases are not in this invoice.' : ''}
          </p>
          {failure === null ? null : <Failure error={failure} />}
          <Row>
            <Button
              tone="primary"
              isDisabled={isBusy}
              onPress={() => void act(() => begin(subscription))}
            >
              Start subscription
            </Button>
            <Button isDisabled={isBusy} onPress={() => void act(back)}>
              Change the terms
            </Button>
            {hasPhases ? null : (
              <ButtonLink to={`/subscriptions/${draft}`}>Keep as a draft</ButtonLink>
            )}
          </Row>
        </Stack>
      )}
    </Loaded>
  );
}
