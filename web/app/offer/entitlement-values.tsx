import type { Control, FieldPath, FieldValues } from 'react-hook-form';
import * as z from 'zod';
import { USAGE_RESET_PERIODS } from '../../../schemas/words.ts';
import type { ApiRecord } from '../../client/api.ts';
import { CheckboxField, SelectField, TextField } from '../../ui/fields.tsx';
import { formatWord } from '../../ui/text.ts';

type Type = ApiRecord<'Entitlement'>['feature_type'];

/** What an entitlement gives, as the fields of a form hold it. */
export const VALUES = {
  usage_limit: z.string().regex(/^\d{0,15}$/, 'must be a whole number, or empty for no limit'),
  usage_reset_period: z.enum(USAGE_RESET_PERIODS).or(z.literal('')),
  is_soft_limit: z.boolean(),
  static_value: z.string().max(5_000),
};

export interface EntitlementValues {
  readonly usage_limit: string;
  readonly usage_reset_period: z.output<typeof VALUES.usage_reset_period>;
  readonly is_soft_limit: boolean;
  readonly static_value: string;
}

/** The fields of a request that a feature of the type has. */
export const valuesFor = (
  type: Type,
  { usage_limit, usage_reset_period, is_soft_limit, static_value }: EntitlementValues,
) => ({
  ...(type === 'static' ? { static_value } : {}),
  ...(type === 'metered'
    ? {
        usage_limit: usage_limit === '' ? null : Number(usage_limit),
        ...(usage_reset_period === '' ? {} : { usage_reset_period }),
        is_soft_limit,
      }
    : {}),
});

/** The fields of the type; none before a feature is chosen. */
export function EntitlementValueFields<Fields extends FieldValues & EntitlementValues>({
  control,
  type,
  mayBeUnset = false,
}: {
  readonly control: Control<Fields>;
  readonly type: Type | null;
  /** True for an entitlement that has no reset period. */
  readonly mayBeUnset?: boolean;
}) {
  const named = (name: keyof EntitlementValues) => ({ control, name: name as FieldPath<Fields> });
  if (type === 'static') return <TextField {...named('static_value')} label="Value" isRequired />;
  if (type !== 'metered') return null;
  return (
    <>
      <TextField {...named('usage_limit')} label="Included quantity" hint="Empty: unlimited." />
      <SelectField
        {...named('usage_reset_period')}
        label="Reset period"
        isRequired
        choices={[
          ...(mayBeUnset ? [['', 'Not set'] as const] : []),
          ...USAGE_RESET_PERIODS.map((word) => [word, formatWord(word)] as const),
        ]}
      />
      <CheckboxField
        {...named('is_soft_limit')}
        label="Allow overage"
        hint="Usage above the included quantity is charged. Otherwise access ends there."
      />
    </>
  );
}
