import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useWatch } from 'react-hook-form';
import * as z from 'zod';
import { rateOf } from '../../app/billing/rate-of.ts';
import { answerOf, api } from '../../client/api.ts';
import { SelectField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { notify } from '../../ui/toasts.tsx';
import { setGroup } from './set-group.ts';

const OFFERS_SHOWN = 200;
const PRICES_SHOWN = 1000;

const Body = z.object({
  owner: z.string().min(1, 'choose a plan or an addon'),
  price: z.string().min(1, 'choose a price'),
});

/** Puts a price of a plan or an addon into the group. It leaves the group that it was in. */
export function AddPrice({
  groupId,
  onDone,
}: {
  readonly groupId: string;
  readonly onDone: () => void;
}) {
  const offers = useQuery({
    queryKey: ['offers-to-choose'],
    queryFn: async ({ signal }) => {
      const body = { limit: OFFERS_SHOWN };
      const [plans, addons] = await Promise.all([
        answerOf(api.POST('/plans/search', { body, signal })),
        answerOf(api.POST('/addons/search', { body, signal })),
      ]);
      return [
        ...plans.items.map(({ id, name }) => [id, name] as const),
        ...addons.items.map(({ id, name }) => [id, `${name} (addon)`] as const),
      ];
    },
  });
  return (
    <Loaded query={offers} what="plans and addons">
      {(choices) => <AddForm groupId={groupId} offers={choices} onDone={onDone} />}
    </Loaded>
  );
}

function AddForm({
  groupId,
  offers,
  onDone,
}: {
  readonly groupId: string;
  readonly offers: readonly (readonly [string, string])[];
  readonly onDone: () => void;
}) {
  const queries = useQueryClient();
  const form = useApiForm(Body, { owner: '', price: '' });
  const { control } = form;
  const owner = useWatch({ control, name: 'owner' });
  const prices = useQuery({
    queryKey: ['prices-to-choose', owner],
    enabled: owner !== '',
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/prices/search', {
          body: { entity_ids: [owner], expand: ['meters', 'groups'], limit: PRICES_SHOWN },
          signal,
        }),
      ),
  });
  const offered = (prices.data?.items ?? []).filter(({ group_id }) => group_id !== groupId);
  const unset =
    owner === ''
      ? 'Choose a plan or an addon first'
      : prices.isPending
        ? 'Loading prices …'
        : offered.length === 0
          ? 'It has no price outside the group'
          : 'Choose a price';
  return (
    <Form
      form={form}
      submit="Add price"
      onSubmit={async ({ price }) => {
        await setGroup(price, groupId);
        notify('Price added');
        await queries.invalidateQueries();
        onDone();
      }}
    >
      <SelectField
        control={control}
        name="owner"
        label="Plan or addon"
        isRequired
        choices={[['', 'Choose a plan or an addon'], ...offers]}
      />
      <SelectField
        control={control}
        name="price"
        label="Price"
        isRequired
        choices={[
          ['', unset],
          ...offered.map((price) => {
            const name = price.display_name ?? price.meter?.name ?? formatWord(price.type);
            const other = price.group === null ? '' : `, now in ${price.group.name}`;
            return [price.id, `${name}: ${rateOf(price)}${other}`] as const;
          }),
        ]}
      />
      <p>
        Running subscriptions count with it at once. A subscription with a price of its own instead
        keeps that one as it is.
      </p>
    </Form>
  );
}
