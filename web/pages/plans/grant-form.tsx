import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useWatch } from 'react-hook-form';
import * as z from 'zod';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { CheckboxField, SelectField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { EmptyState, Loaded } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { notify } from '../../ui/toasts.tsx';
import { USAGE_RESET_PERIODS } from '../../../schemas/words.ts';

type Feature = ApiRecord<'Feature'>;

const FEATURES_SHOWN = 200;

const Body = z.object({
  feature_id: z.string().min(1, 'choose a feature'),
  usage_limit: z.string().regex(/^\d{0,15}$/, 'must be a whole number, or empty for no limit'),
  usage_reset_period: z.enum(USAGE_RESET_PERIODS),
  is_soft_limit: z.boolean(),
  static_value: z.string().max(5_000),
});

const bodyOf = (features: readonly Feature[]) =>
  Body.refine(
    ({ feature_id, static_value }) =>
      static_value.trim() !== '' || features.find(({ id }) => id === feature_id)?.type !== 'static',
    { path: ['static_value'], message: 'is required' },
  );

/** Grants a feature to all subscribers of a plan: a limit, a text, or that it is on. */
export function GrantForm({
  plan,
  onDone,
}: {
  readonly plan: ApiRecord<'Plan'>;
  readonly onDone: () => void;
}) {
  const query = useQuery({
    queryKey: ['features-to-grant'],
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/features/search', {
          body: { limit: FEATURES_SHOWN, sort: [{ field: 'name', direction: 'asc' }] },
          signal,
        }),
      ),
  });
  const granted = new Set((plan.entitlements ?? []).map(({ feature_id }) => feature_id));
  return (
    <Loaded query={query} what="features">
      {({ items }) => {
        const features = items.filter(({ id, type }) => !granted.has(id) && type !== 'config');
        return features.length === 0 ? (
          <EmptyState
            title="No feature is left"
            action={
              <ButtonLink to="/features/new" tone="primary">
                New feature
              </ButtonLink>
            }
          >
            The plan grants every feature that there is.
          </EmptyState>
        ) : (
          <Grant planId={plan.id} features={features} onDone={onDone} />
        );
      }}
    </Loaded>
  );
}

function Grant({
  planId,
  features,
  onDone,
}: {
  readonly planId: string;
  readonly features: readonly Feature[];
  readonly onDone: () => void;
}) {
  const queries = useQueryClient();
  const [schema] = useState(() => bodyOf(features));
  const form = useApiForm(schema, {
    feature_id: features[0]!.id,
    usage_limit: '',
    usage_reset_period: 'MONTHLY',
    is_soft_limit: true,
    static_value: '',
  });
  const { control } = form;
  const chosen = useWatch({ control, name: 'feature_id' });
  const type = features.find(({ id }) => id === chosen)!.type;
  return (
    <Form
      form={form}
      submit="Grant it"
      onSubmit={async ({ feature_id, usage_limit, static_value, ...limited }) => {
        await answerOf(
          api.POST('/entitlements', {
            body: {
              plan_id: planId,
              feature_id,
              feature_type: type,
              is_enabled: true,
              ...(type === 'static' ? { static_value } : {}),
              ...(type === 'metered'
                ? { ...limited, usage_limit: usage_limit === '' ? null : Number(usage_limit) }
                : {}),
            },
          }),
        );
        notify('The plan grants the feature');
        await queries.invalidateQueries();
        onDone();
      }}
    >
      <SelectField
        control={control}
        name="feature_id"
        label="Feature"
        isRequired
        choices={features.map(({ id, name }) => [id, name] as const)}
      />
      {type === 'metered' ? (
        <>
          <TextField
            control={control}
            name="usage_limit"
            label="Limit"
            hint="So much is free of charge. Empty: all of it; 0: nothing."
          />
          <SelectField
            control={control}
            name="usage_reset_period"
            label="Begins again"
            isRequired
            choices={USAGE_RESET_PERIODS.map((word) => [word, formatWord(word)] as const)}
          />
          <CheckboxField
            control={control}
            name="is_soft_limit"
            label="More may be used"
            hint="What is above the limit is charged. Otherwise access ends at the limit."
          />
        </>
      ) : null}
      {type === 'static' ? (
        <TextField control={control} name="static_value" label="Value" isRequired />
      ) : null}
    </Form>
  );
}
