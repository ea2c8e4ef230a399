import { useState } from 'react';
import { useWatch } from 'react-hook-form';
import * as z from 'zod';
import { InvoicePreview } from '../../app/billing/invoice-preview.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { SelectField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Day } from '../../ui/time.tsx';

const Body = z.object({
  cancellation_type: z.enum(['immediate', 'end_of_period']),
  invoice: z.enum(['generate_invoice', 'skip']),
  reason: z.string().max(1_000),
});

/** Ends a subscription, with the invoice of the running period below. */
export function CancelForm({
  subscription,
  onDone,
}: {
  readonly subscription: ApiRecord<'Subscription'>;
  readonly onDone: (text: string) => Promise<void>;
}) {
  const form = useApiForm(Body, {
    cancellation_type: 'end_of_period',
    invoice: 'generate_invoice',
    reason: '',
  });
  const type = useWatch({ control: form.control, name: 'cancellation_type' });
  const [isShown] = useState(subscription.subscription_status !== 'paused');
  return (
    <Form
      form={form}
      isWide
      submit="Cancel subscription"
      tone="danger"
      onSubmit={async ({ cancellation_type, invoice, reason }) => {
        await answerOf(
          api.POST('/subscriptions/{id}/cancel', {
            params: { path: { id: subscription.id } },
            body: {
              cancellation_type,
              ...(reason === '' ? {} : { reason }),
              ...(cancellation_type === 'immediate'
                ? { cancel_immediately_inovice_policy: invoice }
                : {}),
            },
          }),
        );
        await onDone(
          cancellation_type === 'immediate'
            ? 'Subscription cancelled'
            : 'Subscription ends with its period',
        );
      }}
    >
      <SelectField
        control={form.control}
        name="cancellation_type"
        label="When"
        isRequired
        choices={[
          ['end_of_period', 'At the end of the running period'],
          ['immediate', 'Now'],
        ]}
      />
      {type === 'immediate' ? (
        <SelectField
          control={form.control}
          name="invoice"
          label="What is not billed yet"
          isRequired
          choices={[
            ['generate_invoice', 'Is billed with a last invoice'],
            ['skip', 'Is not billed'],
          ]}
        />
      ) : null}
      <TextField control={form.control} name="reason" label="Reason" />
      <p>
        {type === 'immediate' ? (
          'It ends now. This cannot be undone.'
        ) : (
          <>
            It ends on{' '}
            <Day at={subscription.current_period_end} zone={subscription.customer_timezone} />;
            until then the cancellation can be withdrawn.
          </>
        )}
      </p>
      {isShown ? (
        <>
          <p>The running period, as if it ended now; nothing is charged for a next one:</p>
          <InvoicePreview subscriptionId={subscription.id} />
        </>
      ) : null}
    </Form>
  );
}
