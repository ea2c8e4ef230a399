import { useWatch } from 'react-hook-form';
import * as z from 'zod';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { InvoicePreview } from '../../app/billing/invoice-preview.tsx';
import { midnight } from '../../app/range.ts';
import { SelectField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { formatDay } from '../../ui/text.ts';

const Body = z
  .object({
    mode: z.enum(['immediate', 'scheduled']),
    from: z.iso.date('choose a day').or(z.literal('')),
    days: z.string().regex(/^\d{0,4}$/, 'must be a number of days'),
    reason: z.string().max(1_000),
  })
  .refine(({ mode, from }) => mode === 'immediate' || from !== '', {
    path: ['from'],
    message: 'choose a day',
  });

/** Stops billing for a time; shows the charges of the period until then. */
export function PauseForm({
  subscription,
  onDone,
}: {
  readonly subscription: ApiRecord<'Subscription'>;
  readonly onDone: (text: string) => Promise<void>;
}) {
  const zone = subscription.customer_timezone;
  const form = useApiForm(Body, { mode: 'immediate', from: '', days: '', reason: '' });
  const mode = useWatch({ control: form.control, name: 'mode' });
  const from = useWatch({ control: form.control, name: 'from' });
  const days = useWatch({ control: form.control, name: 'days' });
  return (
    <Form
      form={form}
      isWide
      submit="Pause subscription"
      onSubmit={async (values) => {
        await answerOf(
          api.POST('/subscriptions/{id}/pause', {
            params: { path: { id: subscription.id } },
            body: {
              pause_mode: values.mode,
              ...(values.mode === 'scheduled' ? { pause_start: midnight(values.from, zone) } : {}),
              ...(values.days === '' ? {} : { pause_days: Number(values.days) }),
              ...(values.reason === '' ? {} : { reason: values.reason }),
            },
          }),
        );
        await onDone(values.mode === 'immediate' ? 'Subscription paused' : 'The pause is planned');
      }}
    >
      <SelectField
        control={form.control}
        name="mode"
        label="When"
        isRequired
        choices={[
          ['immediate', 'Now'],
          ['scheduled', 'From a day on'],
        ]}
      />
      {mode === 'scheduled' ? (
        <TextField
          control={form.control}
          name="from"
          label="First day"
          kind="date"
          hint={`Midnight, ${zone}.`}
          isRequired
        />
      ) : null}
      <TextField
        control={form.control}
        name="days"
        label="Days"
        kind="decimal"
        hint="Empty: until you resume it."
      />
      <TextField control={form.control} name="reason" label="Reason" />
      <p>
        {mode === 'scheduled' && from !== ''
          ? `From ${formatDay(midnight(from, zone), zone)}`
          : 'From now'}{' '}
        on nothing is invoiced and usage is not billed,{' '}
        {days === '' || Number(days) === 0
          ? 'until you resume it'
          : `for ${Number(days) === 1 ? '1 day' : `${Number(days)} days`}`}
        . The running period is longer by the time of the pause. If it ended now, this would be its
        invoice, with the fees of the next period that are due in advance:
      </p>
      <InvoicePreview subscriptionId={subscription.id} />
    </Form>
  );
}
