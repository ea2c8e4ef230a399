import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useWatch } from 'react-hook-form';
import * as z from 'zod';
import { answerOf, api } from '../../client/api.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { FieldRow, SelectField, TextAreaField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { notify } from '../../ui/toasts.tsx';
import { FEATURE_TYPES } from '../../../schemas/words.ts';

const METERS_SHOWN = 200;

/** What each type grants, in the words of the choice. */
const TYPES: Readonly<Record<(typeof FEATURE_TYPES)[number], string>> = {
  metered: 'Metered: a limit of what a meter counts',
  boolean: 'Switch: on or off',
  static: 'Value: one text for each plan',
  config: 'Configuration: a JSON object for each plan',
};

const Body = z
  .object({
    name: z.string().trim().min(1, 'is required').max(255),
    lookup_key: z.string().max(255),
    description: z.string().max(5_000),
    type: z.enum(FEATURE_TYPES),
    meter_id: z.string(),
    unit_singular: z.string().max(50),
    unit_plural: z.string().max(50),
  })
  .refine(({ type, meter_id }) => type !== 'metered' || meter_id !== '', {
    path: ['meter_id'],
    message: 'choose a meter',
  });

/** Creates a feature. Plans grant it afterwards. */
export function View() {
  const meters = useQuery({
    queryKey: ['meters-to-choose'],
    queryFn: ({ signal }) =>
      answerOf(api.POST('/meters/search', { body: { limit: METERS_SHOWN }, signal })),
  });
  return (
    <Page title="New feature" crumbs={[{ label: 'Features', to: '/features' }]}>
      <Loaded query={meters} what="meters">
        {({ items }) => (
          <Card>
            <FeatureForm meters={items.map(({ id, name }) => [id, name] as const)} />
          </Card>
        )}
      </Loaded>
    </Page>
  );
}

function FeatureForm({ meters }: { readonly meters: readonly (readonly [string, string])[] }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const form = useApiForm(Body, {
    name: '',
    lookup_key: '',
    description: '',
    type: 'metered',
    meter_id: '',
    unit_singular: '',
    unit_plural: '',
  });
  const { control } = form;
  const type = useWatch({ control, name: 'type' });
  return (
    <Form
      form={form}
      submit="Create feature"
      secondary={<ButtonLink to="/features">Cancel</ButtonLink>}
      onSubmit={async ({ meter_id, unit_singular, unit_plural, ...values }) => {
        const metered = { meter_id, unit_singular, unit_plural };
        const feature = await answerOf(
          api.POST('/features', {
            body: { ...values, ...(values.type === 'metered' ? metered : {}) },
          }),
        );
        notify('Feature created');
        await queries.invalidateQueries();
        await navigate({ to: `/features/${feature.id}` });
      }}
    >
      <TextField control={control} name="name" label="Name" isRequired autoFocus />
      <SelectField
        control={control}
        name="type"
        label="Type"
        isRequired
        choices={FEATURE_TYPES.map((word) => [word, TYPES[word]] as const)}
      />
      {type === 'metered' ? (
        <>
          <SelectField
            control={control}
            name="meter_id"
            label="Meter"
            isRequired
            choices={[['', 'Choose a meter'], ...meters]}
          />
          <FieldRow>
            <TextField
              control={control}
              name="unit_singular"
              label="Unit, singular"
              placeholder="token"
            />
            <TextField
              control={control}
              name="unit_plural"
              label="Unit, plural"
              placeholder="tokens"
            />
          </FieldRow>
        </>
      ) : null}
      <TextField
        control={control}
        name="lookup_key"
        label="Lookup key"
        hint="A stable identifier for your code, for example api-access."
      />
      <TextAreaField control={control} name="description" label="Description" rows={2} />
    </Form>
  );
}
