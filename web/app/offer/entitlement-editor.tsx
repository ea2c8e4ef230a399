import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import * as z from 'zod';
import type { ApiRecord } from '../../client/api.ts';
import { CheckboxField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { notify } from '../../ui/toasts.tsx';
import { EntitlementValueFields, VALUES, valuesFor } from './entitlement-values.tsx';

type Entitlement = ApiRecord<'Entitlement'>;

const Body = z.object({ ...VALUES, is_enabled: z.boolean(), grant_quota: z.string() });

/** What the form sends: the fields that an entitlement of its feature has. */
export type ChangedValues = ReturnType<typeof valuesFor> & {
  readonly is_enabled: boolean;
  readonly grant_quota?: string;
};

/** The form of what an entitlement gives. `children` says for whom it changes. */
export function EntitlementEditor({
  entitlement,
  submit = 'Save entitlement',
  save,
  onDone,
  children,
}: {
  readonly entitlement: Entitlement;
  readonly submit?: string;
  readonly save: (values: ChangedValues) => Promise<unknown>;
  readonly onDone: () => void;
  readonly children: ReactNode;
}) {
  const queries = useQueryClient();
  const { feature_type: type, usage_reset_period, usage_limit, grant_quota } = entitlement;
  const form = useApiForm(Body, {
    usage_limit: usage_limit === null ? '' : String(usage_limit),
    usage_reset_period,
    is_soft_limit: entitlement.is_soft_limit,
    static_value: entitlement.static_value,
    is_enabled: entitlement.is_enabled,
    grant_quota: grant_quota ?? '',
  });
  const { control } = form;
  return (
    <Form
      form={form}
      submit={submit}
      onSubmit={async ({ is_enabled, grant_quota: quota, ...values }) => {
        const given = grant_quota === null ? valuesFor(type, values) : { grant_quota: quota };
        await save({ ...given, is_enabled });
        notify('Entitlement saved');
        onDone();
        await queries.invalidateQueries();
      }}
    >
      {children}
      <CheckboxField
        control={control}
        name="is_enabled"
        label="On"
        hint="Off: the feature may not be used."
      />
      {grant_quota === null ? (
        <EntitlementValueFields
          control={control}
          type={type}
          mayBeUnset={usage_reset_period === ''}
        />
      ) : (
        <TextField
          control={control}
          name="grant_quota"
          label="Included in each window"
          kind="decimal"
          isRequired
        />
      )}
    </Form>
  );
}
