import { useQueryClient } from '@tanstack/react-query';
import { useWatch } from 'react-hook-form';
import * as z from 'zod';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { CheckboxField, SelectField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { SearchField, type Found } from '../../ui/search-field.tsx';
import { formatWord } from '../../ui/text.ts';
import { notify } from '../../ui/toasts.tsx';
import { FEATURE_TYPES, USAGE_RESET_PERIODS } from '../../../schemas/words.ts';
import { ownerField, type Offer } from './offer.ts';

type Feature = ApiRecord<'Feature'>;
type FoundFeature = Found & Pick<Feature, 'type'>;

const SHOWN = 8;
const LIMIT_MAX = 1_000;

const Body = z
  .object({
    feature_id: z.string().min(1, 'choose a feature'),
    feature_type: z.enum(FEATURE_TYPES),
    usage_limit: z.string().regex(/^\d{0,15}$/, 'must be a whole number, or empty for no limit'),
    usage_reset_period: z.enum(USAGE_RESET_PERIODS),
    is_soft_limit: z.boolean(),
    static_value: z.string().max(5_000),
  })
  .refine(
    ({ static_value, feature_type }) => static_value.trim() !== '' || feature_type !== 'static',
    { path: ['static_value'], message: 'is required' },
  );

/** Gives all subscribers of a plan or an addon a feature: an included quantity, a text, or access. */
export function EntitlementForm({
  offer,
  onDone,
}: {
  readonly offer: Offer;
  readonly onDone: () => void;
}) {
  const queries = useQueryClient();
  const form = useApiForm(Body, {
    feature_id: '',
    feature_type: 'boolean',
    usage_limit: '',
    usage_reset_period: 'MONTHLY',
    is_soft_limit: true,
    static_value: '',
  });
  const { control } = form;
  const id = useWatch({ control, name: 'feature_id' });
  const chosenType = useWatch({ control, name: 'feature_type' });
  const type = id === '' ? null : chosenType;
  const included = new Set(offer.entitlements.map(({ feature_id }) => feature_id));
  return (
    <Form
      form={form}
      submit="Add entitlement"
      onSubmit={async ({ feature_id, feature_type, usage_limit, static_value, ...limited }) => {
        await answerOf(
          api.POST('/entitlements', {
            body: {
              ...ownerField(offer),
              feature_id,
              feature_type,
              is_enabled: true,
              ...(feature_type === 'static' ? { static_value } : {}),
              ...(feature_type === 'metered'
                ? { ...limited, usage_limit: usage_limit === '' ? null : Number(usage_limit) }
                : {}),
            },
          }),
        );
        notify('Entitlement added');
        await queries.invalidateQueries();
        onDone();
      }}
    >
      <SearchField
        control={control}
        name="feature_id"
        label="Feature"
        noun="features"
        search={(text, signal) => featuresOutside(included, text, signal)}
        find={async (feature, signal) =>
          foundOf(
            await answerOf(
              api.GET('/features/{id}', { params: { path: { id: feature } }, signal }),
            ),
          )
        }
        onChoose={(feature: FoundFeature) => form.setValue('feature_type', feature.type)}
        none={
          <>
            The {offer.kind} includes all features.{' '}
            <ButtonLink to="/features/new">New feature</ButtonLink>
          </>
        }
      />
      {type === 'metered' ? (
        <>
          <TextField
            control={control}
            name="usage_limit"
            label="Included quantity"
            hint="Empty: unlimited."
          />
          <SelectField
            control={control}
            name="usage_reset_period"
            label="Reset period"
            isRequired
            choices={USAGE_RESET_PERIODS.map((word) => [word, formatWord(word)] as const)}
          />
          <CheckboxField
            control={control}
            name="is_soft_limit"
            label="Allow overage"
            hint="Usage above the included quantity is charged. Otherwise access ends there."
          />
        </>
      ) : null}
      {type === 'static' ? (
        <TextField control={control} name="static_value" label="Value" isRequired />
      ) : null}
    </Form>
  );
}

/** The first features whose name contains the text, without those of the offer. */
async function featuresOutside(
  included: ReadonlySet<string>,
  text: string,
  signal: AbortSignal,
): Promise<readonly FoundFeature[]> {
  const { items } = await answerOf(
    api.POST('/features/search', {
      body: {
        limit: Math.min(SHOWN + included.size, LIMIT_MAX),
        sort: [{ field: 'name', direction: 'asc' }],
        filters: [
          { field: 'type', operator: 'not_in', value: { array: ['config'] } },
          ...(text === ''
            ? []
            : [{ field: 'name', operator: 'contains' as const, value: { string: text } }]),
        ],
      },
      signal,
    }),
  );
  return items
    .filter(({ id }) => !included.has(id))
    .slice(0, SHOWN)
    .map(foundOf);
}

const foundOf = ({ id, name, type }: Feature): FoundFeature => ({
  id,
  name,
  type,
  detail: formatWord(type),
});
