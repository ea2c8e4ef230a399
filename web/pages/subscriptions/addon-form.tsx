import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import * as z from 'zod';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { SelectField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { EmptyState, Loaded } from '../../ui/query-state.tsx';
import { PreviewedChange, previewOf, type PreviewedModification } from './previewed-change.tsx';

const ADDONS_SHOWN = 200;

const Body = z.object({
  addon_id: z.string().min(1, 'choose an addon'),
  quantity: z
    .string()
    .trim()
    .regex(/^(\d{1,20}(\.\d{1,18})?)?$/, 'must be a number'),
});

/** Adds an addon: first what it charges for the rest of the period, then the change. */
export function AddonForm({
  subscription,
  onDone,
}: {
  readonly subscription: ApiRecord<'Subscription'>;
  readonly onDone: (text: string) => Promise<void>;
}) {
  const addons = useQuery({
    queryKey: ['addons-to-choose'],
    queryFn: ({ signal }) =>
      answerOf(api.POST('/addons/search', { body: { limit: ADDONS_SHOWN }, signal })),
  });
  const form = useApiForm(Body, { addon_id: '', quantity: '' });
  const [preview, setPreview] = useState<PreviewedModification | null>(null);
  if (preview !== null)
    return (
      <PreviewedChange
        subscription={subscription}
        preview={preview}
        confirm="Add the addon"
        onBack={() => setPreview(null)}
        onDone={() => onDone('Addon added')}
      />
    );
  return (
    <Loaded query={addons} what="addons">
      {({ items }) =>
        items.length === 0 ? (
          <EmptyState
            title="No addons yet"
            action={<ButtonLink to="/addons">Go to addons</ButtonLink>}
          >
            An addon is a set of prices and limits that a subscription may have beside its plan.
          </EmptyState>
        ) : (
          <Form
            form={form}
            submit="Preview the change"
            onSubmit={async ({ addon_id, quantity }) => {
              setPreview(
                await previewOf(subscription.id, {
                  type: 'addon',
                  addon_params: {
                    action: 'add',
                    add: {
                      addon_id,
                      ...(quantity === '' ? {} : { quantity }),
                    },
                  },
                }),
              );
            }}
          >
            <SelectField
              control={form.control}
              name="addon_id"
              label="Addon"
              isRequired
              choices={[
                ['', 'Choose an addon'],
                ...items.map(({ id, name }) => [id, name] as const),
              ]}
            />
            <TextField
              control={form.control}
              name="quantity"
              label="Quantity"
              kind="decimal"
              hint="Units of each fixed fee. Empty: 1."
            />
          </Form>
        )
      }
    </Loaded>
  );
}
