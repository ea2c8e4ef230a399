import { useState } from 'react';
import * as z from 'zod';
import { typed } from '../../app/billing/amounts.ts';
import { useCustomerTime } from '../../app/customer-time.ts';
import type { ApiRecord } from '../../client/api.ts';
import { TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Awaiting, EmptyState } from '../../ui/query-state.tsx';
import { formatDecimal } from '../../ui/text.ts';
import { PreviewedChange, previewOf, type PreviewedModification } from './previewed-change.tsx';

const Body = z.object({
  quantities: z.array(
    z.string().refine((text) => typed(text) !== null, 'must be a number such as "3"'),
  ),
});

interface Changed {
  readonly subscription: ApiRecord<'Subscription'>;
  readonly onDone: (text: string) => Promise<void>;
}

/** New quantities of fixed fees that have not ended: first the invoice or credit that results, then the change. */
export function QuantityForm(changed: Changed) {
  const now = useCustomerTime(changed.subscription.customer);
  return now === undefined ? <Awaiting what="the fees" /> : <Quantities {...changed} now={now} />;
}

function Quantities({ subscription, onDone, now }: Changed & { readonly now: string }) {
  const lines = (subscription.line_items ?? []).filter(
    ({ price_type, end_date }) =>
      price_type === 'FIXED' && (end_date === null || Date.parse(end_date) > Date.parse(now)),
  );
  const form = useApiForm(Body, { quantities: lines.map(({ quantity }) => quantity) });
  const [preview, setPreview] = useState<PreviewedModification | null>(null);
  if (lines.length === 0)
    return (
      <EmptyState title="No fixed fee">
        Only fixed fees have a quantity; usage lines are counted from events.
      </EmptyState>
    );
  if (preview !== null)
    return (
      <PreviewedChange
        subscription={subscription}
        preview={preview}
        confirm="Change quantity"
        onBack={() => setPreview(null)}
        onDone={() => onDone('Quantity changed')}
      />
    );
  return (
    <Form
      form={form}
      submit="Preview the change"
      onSubmit={async ({ quantities }) => {
        setPreview(
          await previewOf(subscription.id, {
            type: 'quantity_change',
            quantity_change_params: {
              line_items: lines.flatMap(({ id, quantity }, index) =>
                quantities[index] === quantity ? [] : [{ id, quantity: quantities[index]!.trim() }],
              ),
            },
          }),
        );
      }}
    >
      {lines.map((line, index) => (
        <TextField
          key={line.id}
          control={form.control}
          name={`quantities.${index}`}
          label={line.display_name}
          kind="decimal"
          hint={`Now ${formatDecimal(line.quantity)}.`}
          isRequired
        />
      ))}
    </Form>
  );
}
