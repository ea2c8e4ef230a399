import { useQueryClient } from '@tanstack/react-query';
import { useWatch } from 'react-hook-form';
import * as z from 'zod';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { SearchField, type Found } from '../../ui/search-field.tsx';
import { formatWord } from '../../ui/text.ts';
import { notify } from '../../ui/toasts.tsx';
import { FEATURE_TYPES } from '../../../schemas/words.ts';
import { EntitlementValueFields, VALUES, valuesFor } from './entitlement-values.tsx';
import { ownerField, type Offer } from './offer.ts';

type Feature = ApiRecord<'Feature'>;
type FoundFeature = Found & Pick<Feature, 'type'>;

const SHOWN = 8;
const LIMIT_MAX = 1_000;

const Body = z
  .object({
    feature_id: z.string().min(1, 'choose a feature'),
    feature_type: z.enum(FEATURE_TYPES),
    ...VALUES,
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
      onSubmit={async ({ feature_id, feature_type, ...values }) => {
        const granted = { feature_id, feature_type, is_enabled: true };
        await answerOf(
          api.POST('/entitlements', {
            body: { ...ownerField(offer), ...granted, ...valuesFor(feature_type, values) },
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
      <EntitlementValueFields control={control} type={type} />
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
