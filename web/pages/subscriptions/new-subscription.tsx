import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useWatch } from 'react-hook-form';
import * as z from 'zod';
import { CouponField } from '../../app/billing/coupon-field.tsx';
import { CustomerField } from '../../app/billing/customer-field.tsx';
import { InvoicePreview } from '../../app/billing/invoice-preview.tsx';
import { answerOf, api } from '../../client/api.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { FieldRow, SelectField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Card, Page, Row, Section, Stack } from '../../ui/page.tsx';
import { Failure, Loaded } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { notify } from '../../ui/toasts.tsx';
import { useUrlState } from '../../ui/url-state.ts';
import { PhaseFields, Phases, phasesOf } from './phase-fields.tsx';
import { BILLING_CYCLES, COLLECTION_METHODS } from '../../../schemas/words.ts';

const PERIODS = ['MONTHLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL', 'WEEKLY', 'DAILY'] as const;
const PLANS_SHOWN = 200;
const STATE = { customer_id: '', plan_id: '', draft: '' };

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

const today = (): string => new Date().toISOString().slice(0, 10);

/** A subscription in two steps: its terms, saved as a draft, and the invoice that results from them. */
export function View() {
  const [state, setState] = useUrlState(STATE);
  const [terms, setTerms] = useState<Body>({
    customer_id: state.customer_id,
    plan_id: state.plan_id,
    currency: 'usd',
    billing_period: 'MONTHLY',
    billing_cycle: 'anniversary',
    collection_method: 'send_invoice',
    start_day: today(),
    trial_days: '',
    coupon_id: '',
    phases: [],
  });
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
          onDraft={(draft, written) => {
            setTerms(written);
            setState({ draft });
          }}
        />
      ) : (
        <Result draft={state.draft} onBack={() => setState({ draft: '' })} />
      )}
    </Page>
  );
}

function Terms({
  terms: before,
  onDraft,
}: {
  readonly terms: Body;
  readonly onDraft: (id: string, terms: Body) => void;
}) {
  const plans = useQuery({
    queryKey: ['plans-to-choose'],
    queryFn: ({ signal }) =>
      answerOf(api.POST('/plans/search', { body: { limit: PLANS_SHOWN }, signal })),
  });
  const form = useApiForm(Body, before);
  const chosenPlan = useWatch({ control: form.control, name: 'plan_id' });
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
              const { start_day, trial_days, coupon_id, phases, ...terms } = written;
              const draft = await answerOf(
                api.POST('/subscriptions', {
                  body: {
                    ...terms,
                    billing_period_count: 1,
                    subscription_status: 'draft',
                    start_date: `${start_day}T00:00:00Z`,
                    ...(coupon_id === '' ? {} : { coupons: [coupon_id] }),
                    ...phasesOf(start_day, phases),
                    ...(trial_days === '' ? {} : { trial_period_days: Number(trial_days) }),
                  },
                }),
              );
              onDraft(draft.id, written);
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
                hint="Midnight, UTC."
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

function Result({ draft, onBack }: { readonly draft: string; readonly onBack: () => void }) {
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
  const begin = async (start_date: string): Promise<void> => {
    await answerOf(api.POST('/subscriptions/{id}/activate', { params, body: { start_date } }));
    notify('Subscription started');
    await queries.invalidateQueries();
    await navigate({ to: `/subscriptions/${draft}` });
  };
  // Other terms make another draft.
  const back = async (): Promise<void> => {
    await answerOf(api.POST('/subscriptions/{id}/discard', { params }));
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
          </p>
          {failure === null ? null : <Failure error={failure} />}
          <Row>
            <Button
              tone="primary"
              isDisabled={isBusy}
              onPress={() => void act(() => begin(subscription.start_date))}
            >
              Start subscription
            </Button>
            <Button isDisabled={isBusy} onPress={() => void act(back)}>
              Change the terms
            </Button>
            <ButtonLink to={`/subscriptions/${draft}`}>Keep as a draft</ButtonLink>
          </Row>
        </Stack>
      )}
    </Loaded>
  );
}
