import { useQuery } from '@tanstack/react-query';
import { useWatch } from 'react-hook-form';
import * as z from 'zod';
import { sumOf } from '../../app/billing/amounts.ts';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { PlainTable } from '../../ui/data-table.tsx';
import { SelectField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Money, Quantity } from '../../ui/money.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { Day } from '../../ui/time.tsx';

const Body = z.object({
  cancellation_type: z.enum(['immediate', 'end_of_period']),
  invoice: z.enum(['generate_invoice', 'skip']),
  reason: z.string().max(1_000),
});

/** Ends a subscription; shows the charges of its running period so far. */
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
            : 'Subscription ends with the current period',
        );
      }}
    >
      <SelectField
        control={form.control}
        name="cancellation_type"
        label="When"
        isRequired
        choices={[
          ['end_of_period', 'At the end of the current period'],
          ['immediate', 'Now'],
        ]}
      />
      {type === 'immediate' ? (
        <SelectField
          control={form.control}
          name="invoice"
          label="Unbilled charges"
          isRequired
          choices={[
            ['generate_invoice', 'Bill on a last invoice'],
            ['skip', 'Do not bill'],
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
            <Day at={subscription.current_period_end} zone={subscription.customer_timezone} />; you
            can undo the cancellation until then, in the menu of the subscription.
          </>
        )}
      </p>
      {subscription.subscription_status === 'paused' ? null : (
        <RunningRows subscription={subscription} />
      )}
    </Form>
  );
}

/** The charges of the running period so far. No period follows, so fees of a next period are left out. */
function RunningRows({ subscription }: { readonly subscription: ApiRecord<'Subscription'> }) {
  const query = useQuery({
    queryKey: ['invoice-preview', subscription.id],
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/invoices/preview', { body: { subscription_id: subscription.id }, signal }),
      ),
  });
  return (
    <Loaded query={query} what="the running period">
      {({ line_items, currency }) => {
        const rows = (line_items ?? []).filter(
          ({ period_start }) =>
            period_start !== null && period_start < subscription.current_period_end,
        );
        return (
          <>
            <p>
              Charges of the current period so far:{' '}
              <Money amount={sumOf(rows.map(({ amount }) => amount))} currency={currency} />, before
              discounts, credits and taxes.
            </p>
            <PlainTable
              label="Line items of the current period"
              rows={rows}
              columns={[
                {
                  header: 'Line item',
                  cell: ({ display_name }) => <bdi>{display_name ?? 'Line item'}</bdi>,
                },
                {
                  header: 'Quantity',
                  align: 'end',
                  cell: ({ quantity }) => <Quantity value={quantity} />,
                },
                {
                  header: 'Amount',
                  align: 'end',
                  cell: ({ amount }) => <Money amount={amount} currency={currency} />,
                },
              ]}
            />
          </>
        );
      }}
    </Loaded>
  );
}
