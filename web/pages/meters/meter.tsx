import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Badge, Status } from '../../ui/badge.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { Id } from '../../ui/code-block.tsx';
import { PlainTable } from '../../ui/data-table.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Card, Columns, Page, Section } from '../../ui/page.tsx';
import { Progress } from '../../ui/progress.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';
import { Bench, exampleOf } from './bench.tsx';
import { inWords } from './in-words.ts';
import { MeterPrices } from './meter-prices.tsx';

type Meter = ApiRecord<'Meter'>;

/** While a version counts the events before it, its progress is read this often. */
const BACKFILL_MS = 2_000;

/** A saved meter: what it counts, its versions, and the bench. */
export function View() {
  const { id } = useParams({ strict: false }) as { id: string };
  const meter = useQuery({
    queryKey: ['meter', id],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/meters/{id}', { params: { path: { id } }, signal })),
  });
  const name = meter.data?.name;
  return (
    <Page
      title={name ?? 'Meter'}
      crumbs={[{ label: 'Meters', to: '/meters' }]}
      actions={
        meter.data?.status === 'published' ? (
          <Allowed to="meter:write">
            <ButtonLink to={`/meters/${id}/edit`}>Edit meter</ButtonLink>
          </Allowed>
        ) : undefined
      }
    >
      <Loaded query={meter} what="the meter">
        {(found) => (
          <>
            <Columns>
              <Definition of={found} />
              <Bench
                definition={found.id}
                example={exampleOf(found)}
                evaluate={(event) =>
                  answerOf(
                    api.POST('/meters/{id}/test', { params: { path: { id } }, body: { event } }),
                  )
                }
              />
            </Columns>
            <Allowed to="price:read">
              <Section title="Prices">
                <MeterPrices meterId={id} />
              </Section>
            </Allowed>
            <Versions id={id} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Definition({ of: meter }: { readonly of: Meter }) {
  const { group_by, bucket_size, multiplier } = meter.aggregation;
  return (
    <Section title="Definition">
      <Card>
        <Facts
          of={[
            ['Aggregation', inWords(meter)],
            ['Event name', <code key="event">{meter.event_name}</code>],
            ...meter.filters.map(
              ({ key, values }) => [`Only where ${key}`, `is ${values.join(' or ')}`] as const,
            ),
            ['Multiplier', multiplier],
            ['Group by', group_by],
            ['Bucket', bucket_size],
            ['Usage resets', formatWord(meter.reset_usage)],
            ['Status', <Status key="status" word={meter.status} />],
            ['Id', <Id key="id" of={meter.id} />],
          ]}
        />
      </Card>
    </Section>
  );
}

function Versions({ id }: { readonly id: string }) {
  const versions = useQuery({
    queryKey: ['meter', id, 'versions'],
    queryFn: ({ signal }) =>
      answerOf(
        api.GET('/meters/{id}/versions', {
          params: { path: { id }, query: { limit: 1000 } },
          signal,
        }),
      ),
    refetchInterval: ({ state }) =>
      state.data?.items.some(({ backfill }) => isUnderWay(backfill.state)) ? BACKFILL_MS : false,
  });
  return (
    <Section title="Versions">
      <Loaded query={versions} what="versions">
        {({ items }) => (
          <PlainTable
            label="Versions"
            rows={items}
            columns={[
              {
                header: 'Version',
                cell: ({ version, is_active }) => (
                  <>
                    {version} {is_active ? <Badge tone="positive">Active</Badge> : null}
                  </>
                ),
              },
              { header: 'Aggregation', wideOnly: true, cell: inWords },
              {
                header: 'Applies to periods from',
                cell: ({ version, effective_from }) =>
                  // Periods before all versions use the first one (metering 6).
                  version === 1 ? 'The beginning' : <Time at={effective_from} />,
              },
              {
                header: 'Past events',
                cell: ({ backfill: { state, events_done, events_total } }) =>
                  isUnderWay(state) && events_total !== null ? (
                    <Progress label={formatWord(state)} done={events_done} of={events_total} />
                  ) : (
                    <Status word={state} />
                  ),
              },
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}

const isUnderWay = (state: string): boolean =>
  ['waiting', 'replaying', 'sealing', 'verifying'].includes(state);
