import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Properties } from '../../app/properties.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { download } from '../../client/download.ts';
import { Button } from '../../ui/button.tsx';
import { PlainTable } from '../../ui/data-table.tsx';
import { Row, Section, Stack } from '../../ui/page.tsx';
import { Failure, Loaded } from '../../ui/query-state.tsx';
import { Time } from '../../ui/time.tsx';

/** The usage query that is stored with a row, as far as it names events. */
export interface UsageQuestion {
  readonly start: string;
  readonly end: string;
  readonly external_customer_ids: readonly string[];
  readonly filter_values: Readonly<Record<string, string[]>>;
  /** Events that another price of the subscription bills. */
  readonly excluded_filter_values?: readonly Readonly<Record<string, string[]>>[];
  readonly excluded_during?: readonly unknown[];
  readonly group_by?: readonly string[];
  readonly window?: unknown;
  readonly by_time?: boolean;
}

const PAGE = 20;

/** The accepted events that a usage row was counted from, as a list and as a file. */
export function LineEvents({
  meterId,
  question,
  zone,
}: {
  readonly meterId: string;
  readonly question: UsageQuestion;
  readonly zone: string;
}) {
  const meter = useQuery({
    queryKey: ['meter', meterId],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/meters/{id}', { params: { path: { id: meterId } }, signal })),
  });
  return (
    <Section title="Events">
      <Loaded query={meter} what="the meter">
        {(data) => <Events meter={data} question={question} zone={zone} />}
      </Loaded>
    </Section>
  );
}

function Events({
  meter,
  question,
  zone,
}: {
  readonly meter: ApiRecord<'Meter'>;
  readonly question: UsageQuestion;
  readonly zone: string;
}) {
  const [offset, setOffset] = useState(0);
  const [failure, setFailure] = useState<Error | null>(null);
  const customer = question.external_customer_ids[0] ?? '';
  const properties = {
    ...Object.fromEntries(meter.filters.map(({ key, values }) => [key, values])),
    ...question.filter_values,
  };
  const query = useQuery({
    queryKey: ['events-behind', meter.id, question, offset],
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/events/query', {
          body: {
            external_customer_id: customer,
            event_name: meter.event_name,
            start_time: question.start,
            end_time: new Date(Date.parse(question.end) - 1).toISOString(),
            property_filters: properties,
            page_size: PAGE,
            offset,
          },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });
  const save = async (): Promise<void> => {
    setFailure(null);
    const parameters = new URLSearchParams({
      format: 'csv',
      external_customer_id: customer,
      event_name: meter.event_name,
      start_time: question.start,
      end_time: question.end,
    });
    await download(`/events/export?${parameters}`, `events-${customer}.csv`).catch(setFailure);
  };
  return (
    <Loaded query={query} what="events">
      {({ events, total_count, has_more }) => (
        <Stack>
          <Row>
            <span>
              {total_count.toLocaleString('en-US')} accepted copies of{' '}
              <code>{meter.event_name}</code> by <bdi>{customer}</bdi>
            </span>
            <Button small onPress={() => void save()}>
              Download CSV
            </Button>
          </Row>
          {Object.keys(properties).length === 0 ? null : (
            <p>
              The list has only events with the properties that the row asks for; the file has all
              of the period.
            </p>
          )}
          {failure === null ? null : <Failure error={failure} />}
          <PlainTable
            label="Events"
            rows={events.map((event, index) => ({
              ...event,
              id: `${event.id}#${offset + index}`,
              eventId: event.id,
            }))}
            rowTo={({ eventId }) => `/events/${encodeURIComponent(eventId)}`}
            columns={[
              { header: 'Event', cell: ({ eventId }) => <code>{eventId}</code> },
              {
                header: 'Time',
                cell: ({ timestamp }) => <Time at={timestamp} zone={zone} seconds />,
              },
              {
                header: 'Properties',
                cell: ({ properties: values }) => <Properties of={values} />,
              },
            ]}
          />
          <Row>
            <Button
              small
              isDisabled={offset === 0}
              onPress={() => setOffset(Math.max(0, offset - PAGE))}
            >
              Newer
            </Button>
            <Button small isDisabled={!has_more} onPress={() => setOffset(offset + PAGE)}>
              Older
            </Button>
          </Row>
        </Stack>
      )}
    </Loaded>
  );
}
