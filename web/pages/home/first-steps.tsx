import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Check } from 'lucide-react';
import { useSignedIn } from '../../app/person.tsx';
import { answerOf, api } from '../../client/api.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Card } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import styles from './first-steps.module.css';

interface Step {
  readonly title: string;
  readonly text: string;
  /** Where it is done. */
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
  readonly action: string;
  readonly isDone: boolean;
}

const ONE = { limit: 1 };

/** What an environment needs before it bills anybody, with the next step marked. */
export function FirstSteps() {
  const { environment } = useSignedIn();
  const query = useQuery({
    queryKey: ['first-steps'],
    queryFn: async ({ signal }) => {
      const [meters, plans, prices, customers, subscriptions] = await Promise.all([
        answerOf(api.POST('/meters/search', { body: ONE, signal })),
        answerOf(api.POST('/plans/search', { body: ONE, signal })),
        answerOf(api.POST('/prices/search', { body: ONE, signal })),
        answerOf(api.POST('/customers/search', { body: ONE, signal })),
        answerOf(
          api.POST('/subscriptions/search', {
            body: { ...ONE, subscription_status: ['active', 'trialing'] },
            signal,
          }),
        ),
      ]);
      return stepsOf({
        hasMeter: meters.items.length > 0,
        plan: plans.items[0]?.id ?? null,
        hasPrice: prices.items.length > 0,
        hasCustomer: customers.items.length > 0,
        hasSubscription: subscriptions.items.length > 0,
      });
    },
  });
  return (
    <Loaded query={query} what="the first steps">
      {(steps) => {
        const next = steps.find(({ isDone }) => !isDone);
        return (
          <Card>
            <ol className={styles.steps} aria-label="First steps">
              {steps.map((step, index) => (
                <li key={step.title} aria-current={step === next ? 'step' : undefined}>
                  <span className={styles.mark} data-done={step.isDone}>
                    {step.isDone ? (
                      <Check size={14} strokeWidth={3} aria-label="Done" />
                    ) : (
                      index + 1
                    )}
                  </span>
                  <div>
                    <h3>{step.title}</h3>
                    <p>{step.text}</p>
                  </div>
                  {step.isDone ? null : (
                    <ButtonLink
                      to={step.to}
                      {...(step.search === undefined ? {} : { search: step.search as never })}
                      small
                      tone={step === next ? 'primary' : 'plain'}
                    >
                      {step.action}
                    </ButtonLink>
                  )}
                </li>
              ))}
            </ol>
            {environment.type === 'production' ? null : (
              <p className={styles.note}>
                An invoice is made when a period ends. To see it in seconds, create a{' '}
                <Link to="/test-clocks">test clock</Link> before the customer, choose it for the
                customer, and advance it by a month.
              </p>
            )}
          </Card>
        );
      }}
    </Loaded>
  );
}

function stepsOf({
  hasMeter,
  plan,
  hasPrice,
  hasCustomer,
  hasSubscription,
}: {
  readonly hasMeter: boolean;
  /** The newest plan. */
  readonly plan: string | null;
  readonly hasPrice: boolean;
  readonly hasCustomer: boolean;
  readonly hasSubscription: boolean;
}): readonly Step[] {
  return [
    {
      title: 'Create a meter',
      text: 'A meter counts events, for example API calls or tokens. Skip it if you bill fixed fees only.',
      to: '/meters/new',
      action: 'New meter',
      isDone: hasMeter,
    },
    {
      title: 'Create a plan with prices',
      text: 'A price is a fixed fee for each period, or a rate for what a meter counts.',
      ...(plan === null
        ? { to: '/plans', search: { form: 'new' }, action: 'New plan' }
        : { to: `/plans/${plan}/prices/new`, action: 'Add price' }),
      isDone: hasPrice,
    },
    {
      title: 'Create a customer',
      text: 'Its external id is the one that your events carry.',
      to: '/customers/new',
      action: 'New customer',
      isDone: hasCustomer,
    },
    {
      title: 'Start a subscription',
      text: 'It bills the customer by the plan. You see the invoice before you start it.',
      to: '/subscriptions/new',
      action: 'New subscription',
      isDone: hasSubscription,
    },
    {
      title: 'Send events',
      text: 'The page of events has a command for the first one.',
      to: '/events',
      action: 'Go to events',
      isDone: false,
    },
  ];
}
