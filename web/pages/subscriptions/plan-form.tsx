import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import * as z from 'zod';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Facts } from '../../ui/facts.tsx';
import { SelectField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';
import { ConfirmedChange } from './previewed-change.tsx';

const PLANS_SHOWN = 200;

const Body = z.object({
  target_plan_id: z.string().min(1, 'choose a plan'),
  change_at: z.enum(['immediate', 'end_of_period']),
  proration_behavior: z.enum(['create_prorations', 'none']),
});
type Body = z.output<typeof Body>;

/** Another plan: first what it charges or credits, then the change. */
export function PlanForm({
  subscription,
  onDone,
}: {
  readonly subscription: ApiRecord<'Subscription'>;
  readonly onDone: (text: string) => Promise<void>;
}) {
  const plans = useQuery({
    queryKey: ['plans-to-choose'],
    queryFn: ({ signal }) =>
      answerOf(api.POST('/plans/search', { body: { limit: PLANS_SHOWN }, signal })),
  });
  const form = useApiForm(Body, {
    target_plan_id: '',
    change_at: 'immediate',
    proration_behavior: subscription.proration_behavior,
  });
  const [preview, setPreview] = useState<{
    readonly body: Body;
    readonly change: ApiRecord<'ChangedPlan'>;
  } | null>(null);
  const path = { params: { path: { id: subscription.id } } };
  if (preview !== null)
    return (
      <ConfirmedChange
        subscription={subscription}
        resources={preview.change.changed_resources}
        confirm="Change plan"
        execute={() =>
          answerOf(
            api.POST('/subscriptions/{id}/change/v2/execute', { ...path, body: preview.body }),
          )
        }
        onBack={() => setPreview(null)}
        onDone={() => onDone('Plan changed')}
      >
        <Facts
          of={[
            ['From', <bdi>{preview.change.from_plan.name}</bdi>],
            ['To', <bdi>{preview.change.to_plan.name}</bdi>],
            ['Change', formatWord(preview.change.change_type)],
            ['Takes effect', <Time at={preview.change.effective_at} zone={subscription.customer_timezone} />], // prettier-ignore
          ]}
        />
        {preview.change.warnings.map((warning) => (
          <p key={warning}>{warning}</p>
        ))}
      </ConfirmedChange>
    );
  return (
    <Loaded query={plans} what="plans">
      {({ items }) => (
        <Form
          form={form}
          submit="Preview the change"
          onSubmit={async (body) => {
            const change = await answerOf(
              api.POST('/subscriptions/{id}/change/v2/preview', { ...path, body }),
            );
            setPreview({ body, change });
          }}
        >
          <SelectField
            control={form.control}
            name="target_plan_id"
            label="New plan"
            isRequired
            choices={[
              ['', 'Choose a plan'],
              ...items
                .filter(({ id }) => id !== subscription.plan_id)
                .map(({ id, name }) => [id, name] as const),
            ]}
          />
          <SelectField
            control={form.control}
            name="change_at"
            label="When"
            isRequired
            choices={[
              ['immediate', 'Now'],
              ['end_of_period', 'At the end of the current period'],
            ]}
          />
          <SelectField
            control={form.control}
            name="proration_behavior"
            label="Proration"
            hint="To settle: unused fees that were paid in advance are credited, and the new fees are charged for the rest of the period."
            isRequired
            choices={[
              ['create_prorations', 'Settle the current period'],
              ['none', 'Do not settle it'],
            ]}
          />
        </Form>
      )}
    </Loaded>
  );
}
