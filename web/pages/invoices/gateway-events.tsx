import { useQuery } from '@tanstack/react-query';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { PlainTable } from '../../ui/data-table.tsx';
import { Section } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';

type GatewayEvent = ApiRecord<'GatewayEvent'>;

const OUTCOMES: Readonly<Record<GatewayEvent['outcome'], Tone>> = {
  applied: 'positive',
  set_aside: 'negative',
  ignored: 'neutral',
};

/** Events of an invoice that are shown at once. */
const SHOWN = 100;

/** What gateways sent about the payments of an invoice, with their own ids, and why a repeat had no effect. */
export function GatewayEvents({
  invoiceId,
  zone,
}: {
  readonly invoiceId: string;
  readonly zone: string;
}) {
  const query = useQuery({
    queryKey: ['gateway-events', invoiceId],
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/payments/gateway-events/search', {
          body: { invoice_id: invoiceId, limit: SHOWN },
          signal,
        }),
      ),
  });
  return (
    <Section title="Events of the payment gateway">
      <Loaded query={query} what="events of the gateway">
        {({ items, pagination }) =>
          items.length === 0 ? (
            <p>
              The gateway sent no event about these payments. Their state was read from the gateway.
            </p>
          ) : (
            <>
              {pagination.total > items.length ? (
                <p>
                  The newest {SHOWN} of {pagination.total}.
                </p>
              ) : null}
              <PlainTable
                label="List of events of the gateway"
                rows={items}
                columns={[
                  {
                    header: 'Received',
                    cell: ({ created_at }) => <Time at={created_at} zone={zone} seconds />,
                  },
                  { header: 'Event', cell: ({ event_id }) => <code>{event_id}</code> },
                  { header: 'About', wideOnly: true, cell: ({ kind }) => formatWord(kind) },
                  { header: 'Effect', cell: (event) => <Effect of={event} zone={zone} /> },
                ]}
              />
            </>
          )
        }
      </Loaded>
    </Section>
  );
}

function Effect({ of, zone }: { readonly of: GatewayEvent; readonly zone: string }) {
  const { outcome, reason, repeats, last_repeated_at } = of;
  return (
    <>
      <Badge tone={OUTCOMES[outcome]}>{formatWord(outcome)}</Badge> {reason}
      {repeats === 0 ? null : (
        <div>
          {repeats === 1 ? 'Sent once more' : `Sent ${repeats} more times, the last`} at{' '}
          <Time at={last_repeated_at} zone={zone} seconds />. Repeats are ignored: an event with
          this id is handled once.
        </div>
      )}
    </>
  );
}
