import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { PlainTable } from '../../ui/data-table.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Card, Columns, Page, Section, Stack } from '../../ui/page.tsx';
import { EmptyState, Loaded } from '../../ui/query-state.tsx';
import { Quantity } from '../../ui/money.tsx';
import { Time } from '../../ui/time.tsx';
import { Billing } from './billing.tsx';
import { OtherMeters } from './other-meters.tsx';

type History = ApiRecord<'EventHistory'>;
type Verdict = History['events'][number]['verdict'];

const VERDICTS: Readonly<Record<Verdict, readonly [Tone, string, string]>> = {
  counted: ['positive', 'Counted', 'This copy is the one that meters count.'],
  duplicate: ['neutral', 'Duplicate', 'An earlier copy with the same id is counted instead.'],
  voided: ['warning', 'Voided', 'A correction took this event back.'],
  not_metered: ['warning', 'Not metered', 'No meter matches this event.'],
  rejected: ['negative', 'Rejected', 'A meter matches, but could not read its value.'],
};

/** The whole path of one event: its copies, its meters, its customer, its prices and lines. */
export function View() {
  const { id } = useParams({ strict: false }) as { id: string };
  const history = useQuery({
    queryKey: ['event', id],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/events/{id}', { params: { path: { id } }, signal })),
  });
  return (
    <Page title={id} crumbs={[{ label: 'Events', to: '/events' }]}>
      <Loaded query={history} what="the event">
        {(found) => <Path of={found} />}
      </Loaded>
    </Page>
  );
}

function Path({ of }: { readonly of: History }) {
  const { event } = of;
  return (
    <Stack>
      <Columns>
        <Section title="Details">
          <Card>
            <Facts
              of={[
                ['Name', event.event_name],
                ['Customer', <CustomerLink key="customer" of={of} />],
                ['Time', <Time key="time" at={event.timestamp} seconds />],
                ['Accepted', <Time key="accepted" at={event.ingested_at} seconds />],
                ['Source', event.source],
              ]}
            />
          </Card>
        </Section>
        <Section title="Properties">
          <CodeBlock label="Properties" text={JSON.stringify(event.properties, null, 2)} />
        </Section>
      </Columns>
      <Copies of={of.events} />
      <Metering of={of} />
      <Billing of={of} />
    </Stack>
  );
}

function CustomerLink({ of: { event, customer } }: { readonly of: History }) {
  const name = event.external_customer_id;
  const id = event.customer_id || customer?.id;
  if (id === undefined) return <>{name} (no customer has this external id)</>;
  const link = <Link to={`/customers/${id}`}>{name}</Link>;
  if (customer === null || customer.created_at <= event.ingested_at) return link;
  return (
    <>
      {link} (created later, on <Time at={customer.created_at} />)
    </>
  );
}

function Copies({ of }: { readonly of: History['events'] }) {
  return (
    <Section title={of.length === 1 ? 'One copy was sent' : `${of.length} copies were sent`}>
      <PlainTable
        label="Copies"
        rows={of.map((copy, index) => ({ ...copy, id: String(index) }))}
        columns={[
          { header: 'Accepted', cell: ({ ingested_at }) => <Time at={ingested_at} seconds /> },
          {
            header: 'Verdict',
            cell: ({ verdict }) => (
              <Badge tone={VERDICTS[verdict][0]}>{VERDICTS[verdict][1]}</Badge>
            ),
          },
          {
            header: 'Why',
            cell: ({ verdict, duplicate_of }) => (
              <>
                {VERDICTS[verdict][2]}{' '}
                {duplicate_of === null ? null : (
                  <>
                    It was accepted at <Time at={duplicate_of} seconds />.
                  </>
                )}
              </>
            ),
          },
        ]}
      />
    </Section>
  );
}

/** Meters that match, with what they counted; and, on demand, why the others did not match. */
function Metering({ of: { metering, debug_tracker, event } }: { readonly of: History }) {
  const meter_ids = metering.map(({ meter_id }) => meter_id);
  const meters = useQuery({
    queryKey: ['meters-named', meter_ids],
    enabled: meter_ids.length > 0,
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/meters/search', { body: { meter_ids, limit: meter_ids.length }, signal }),
      ),
  });
  const matched = debug_tracker?.meter_matching.matched_meters ?? [];
  const nameOf = (id: string): string =>
    meters.data?.items.find((meter) => meter.id === id)?.name ??
    matched.find(({ meter_id }) => meter_id === id)?.meter.name ??
    id;
  return (
    <Section title="Meters">
      {metering.length === 0 ? (
        <EmptyState title="No meter counted this event" />
      ) : (
        <PlainTable
          label="Meters that match"
          rows={metering.map((row) => ({ ...row, id: row.meter_version_id }))}
          rowTo={({ meter_id }) => `/meters/${meter_id}`}
          columns={[
            { header: 'Meter', cell: ({ meter_id }) => <bdi>{nameOf(meter_id)}</bdi> },
            {
              header: 'Result',
              cell: ({ quantity }) =>
                quantity === null ? (
                  <Badge tone="negative">Rejected</Badge>
                ) : (
                  <Badge tone="positive">Counted</Badge>
                ),
            },
            { header: 'Why', cell: ({ message, reason }) => message || reason || '–' },
            {
              header: 'Quantity',
              align: 'end',
              cell: ({ quantity }) => (quantity === null ? '–' : <Quantity value={quantity} />),
            },
          ]}
        />
      )}
      <OtherMeters event={event} matched={metering.map(({ meter_id }) => meter_id)} />
    </Section>
  );
}
