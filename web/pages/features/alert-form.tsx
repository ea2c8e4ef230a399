import { useQueryClient } from '@tanstack/react-query';
import * as z from 'zod';
import { ALERT_CONDITIONS } from '../../../schemas/words.ts';
import { LevelFields, Levels, levelsSent, levelsWritten } from '../../app/billing/alert-levels.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { CheckboxField, SelectField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { notify } from '../../ui/toasts.tsx';

/** Names are those of the request, so that a refusal stands at its field. */
const Body = z.object({
  alert_settings: Levels.extend({
    alert_enabled: z.boolean(),
    condition: z.enum(ALERT_CONDITIONS),
  }),
});

/** The levels of a wallet's credits at which the feature is told to be at risk. */
export function AlertForm({
  feature,
  onDone,
}: {
  readonly feature: ApiRecord<'Feature'>;
  readonly onDone: () => void;
}) {
  const queries = useQueryClient();
  const { alert_settings: stored } = feature;
  const form = useApiForm(Body, {
    alert_settings: {
      ...levelsWritten(stored),
      alert_enabled: stored?.alert_enabled ?? true,
      condition: (stored?.critical ?? stored?.info)?.condition ?? 'below',
    },
  });
  const { control } = form;
  return (
    <Form
      form={form}
      submit="Save alerts"
      onSubmit={async ({ alert_settings: { alert_enabled, condition, ...levels } }) => {
        await answerOf(
          api.PUT('/features/{id}', {
            params: { path: { id: feature.id } },
            body: { alert_settings: { alert_enabled, ...levelsSent(levels, condition) } },
          }),
        );
        await queries.invalidateQueries();
        notify('Alerts saved');
        onDone();
      }}
    >
      <p>The levels are compared with the credits of each wallet, less the usage not yet billed.</p>
      <SelectField
        control={control}
        name="alert_settings.condition"
        label="When the credits are"
        isRequired
        choices={[
          ['below', 'Below the level'],
          ['above', 'Above the level'],
        ]}
      />
      <LevelFields control={control} path="alert_settings" unit="credits" hasReturn={false} />
      <CheckboxField
        control={control}
        name="alert_settings.alert_enabled"
        label="Tell when a level is reached"
        hint="As a webhook."
      />
    </Form>
  );
}
