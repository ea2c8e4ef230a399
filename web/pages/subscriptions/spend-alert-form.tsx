import { useQueryClient } from '@tanstack/react-query';
import * as z from 'zod';
import { LevelFields, Levels, levelsSent, levelsWritten } from '../../app/billing/alert-levels.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { CheckboxField, SelectField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { formatCurrency } from '../../ui/text.ts';
import { notify } from '../../ui/toasts.tsx';

/** Names are those of the request, so that a refusal stands at its field. */
const Body = z.object({
  entity_id: z.string(),
  config: Levels.extend({ alert_enabled: z.boolean() }),
});

/** Sets the levels of spend of a subscription, of one of its usage lines, or of a price group on it. */
export function SpendAlertForm({
  subscription,
  groups,
  setting,
  onDone,
}: {
  readonly subscription: ApiRecord<'Subscription'>;
  /** The price groups of its usage lines. */
  readonly groups: readonly ApiRecord<'Group'>[];
  /** Null: it is set for the first time. */
  readonly setting: ApiRecord<'AlertSetting'> | null;
  readonly onDone: () => void;
}) {
  const queries = useQueryClient();
  const form = useApiForm(Body, {
    entity_id: setting?.entity_id ?? subscription.id,
    config: {
      ...levelsWritten(setting?.config ?? null),
      alert_enabled: setting?.config.alert_enabled ?? true,
    },
  });
  const { control } = form;
  const lines = usageLines(subscription);
  const isGroup = (id: string): boolean => groups.some((group) => group.id === id);
  return (
    <Form
      form={form}
      submit="Save alert"
      onSubmit={async ({ entity_id, config: { alert_enabled, ...levels } }) => {
        const config = { alert_enabled, ...levelsSent(levels, 'above') };
        const params = { path: { id: setting?.id ?? '' } };
        await answerOf(
          setting === null
            ? api.POST('/alerts/setting', {
                body: { ...entityOf(entity_id, subscription.id, isGroup(entity_id)), config },
              })
            : api.PUT('/alerts/setting/{id}', { params, body: { config } }),
        );
        await queries.invalidateQueries();
        notify('Alert saved');
        onDone();
      }}
    >
      {setting === null ? (
        <SelectField
          control={control}
          name="entity_id"
          label="For"
          isRequired
          choices={[
            [subscription.id, 'All usage of the subscription'],
            ...groups.map(({ id, name }) => [id, `Price group ${name}`] as const),
            ...lines.map(({ id, display_name }) => [id, display_name ?? id] as const),
          ]}
        />
      ) : null}
      <LevelFields control={control} path="config" unit={formatCurrency(subscription.currency)} />
      <CheckboxField
        control={control}
        name="config.alert_enabled"
        label="Tell when a level is reached"
        hint="As a webhook, once in a billing period. Spend alerts are switched on in the settings."
      />
    </Form>
  );
}

export const usageLines = ({ line_items }: ApiRecord<'Subscription'>) =>
  (line_items ?? []).filter((line) => line.price_type === 'USAGE');

const entityOf = (entity_id: string, subscriptionId: string, isGroup: boolean) =>
  entity_id === subscriptionId
    ? { entity_type: 'subscription' as const, entity_id }
    : {
        entity_type: isGroup ? ('group' as const) : ('subscription_line_item' as const),
        entity_id,
        parent_entity_type: 'subscription' as const,
        parent_entity_id: subscriptionId,
      };
