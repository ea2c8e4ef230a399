import { useState } from 'react';
import * as z from 'zod';
import { typed } from '../../app/billing/amounts.ts';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Row, Stack } from '../../ui/page.tsx';
import { EmptyState, Failure } from '../../ui/query-state.tsx';
import { Changed } from './changed.tsx';

const Body = z.object({
  quantities: z.array(
    z.string().refine((text) => typed(text) !== null, 'must be a number such as "3"'),
  ),
});

/** New quantities of fixed fees: first the invoice or credit that results, then the change. */
export function QuantityForm({
  subscription,
  onDone,
}: {
  readonly subscription: ApiRecord<'Subscription'>;
  readonly onDone: (text: string) => Promise<void>;
}) {
  const lines = (subscription.line_items ?? []).filter(
    ({ price_type, end_date }) =>
      price_type === 'FIXED' && (end_date === null || Date.parse(end_date) > Date.now()),
  );
  const form = useApiForm(Body, { quantities: lines.map(({ quantity }) => quantity) });
  const [preview, setPreview] = useState<{
    readonly body: ApiRecord<'ModifySubscription'>;
    readonly resources: ApiRecord<'ChangedResources'>;
  } | null>(null);
  const [failure, setFailure] = useState<Error | null>(null);
  const path = { params: { path: { id: subscription.id } } };
  if (lines.length === 0)
    return (
      <EmptyState title="No fixed fee">
        Only fixed fees have a quantity; usage lines are counted from events.
      </EmptyState>
    );
  if (preview !== null)
    return (
      <Stack>
        <Changed resources={preview.resources} currency={subscription.currency} />
        {failure === null ? null : <Failure error={failure} />}
        <Row>
          <Button
            tone="primary"
            onPress={() =>
              void answerOf(
                api.POST('/subscriptions/{id}/modify/execute', { ...path, body: preview.body }),
              ).then(() => onDone('Quantity changed'), setFailure)
            }
          >
            Change quantity
          </Button>
          <Button onPress={() => setPreview(null)}>Back</Button>
        </Row>
      </Stack>
    );
  return (
    <Form
      form={form}
      submit="Preview the change"
      onSubmit={async ({ quantities }) => {
        const body: ApiRecord<'ModifySubscription'> = {
          type: 'quantity_change',
          quantity_change_params: {
            line_items: lines.flatMap(({ id, quantity }, index) =>
              quantities[index] === quantity ? [] : [{ id, quantity: quantities[index]!.trim() }],
            ),
          },
        };
        const { changed_resources } = await answerOf(
          api.POST('/subscriptions/{id}/modify/preview', { ...path, body }),
        );
        setPreview({ body, resources: changed_resources });
      }}
    >
      {lines.map((line, index) => (
        <TextField
          key={line.id}
          control={form.control}
          name={`quantities.${index}`}
          label={line.display_name}
          kind="decimal"
          isRequired
        />
      ))}
    </Form>
  );
}
