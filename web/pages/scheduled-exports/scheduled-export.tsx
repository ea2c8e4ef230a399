import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { ENCRYPTION_WORDS, EXPORTED, INTERVALS, placeOf } from '../../app/exports/export-words.ts';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Badge } from '../../ui/badge.tsx';
import { Id } from '../../ui/code-block.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Card, Page, Section, Stack } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';
import { ExportActions } from './export-actions.tsx';
import { Runs } from './runs.tsx';

/** One scheduled export: its runs with their outcome, where it writes to, and what is done with it. */
export function View() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const query = useQuery({
    queryKey: ['scheduled-tasks', id],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/tasks/scheduled/{id}', { params: { path: { id } }, signal })),
  });
  const task = query.data;
  return (
    <Page
      title={task === undefined ? 'Scheduled export' : `Export of ${named(task)}`}
      crumbs={[{ label: 'Imports and exports', to: '/tasks' }]}
      actions={task?.status === 'published' ? <ExportActions task={task} /> : undefined}
    >
      <Stack>
        <Section title="Details">
          <Loaded query={query} what="the scheduled export">
            {(found) => <Details task={found} />}
          </Loaded>
        </Section>
        <Allowed to="workflow:read">
          <Section title="Runs">
            <Runs taskId={id} />
          </Section>
        </Allowed>
      </Stack>
    </Page>
  );
}

const named = ({ entity_type }: ApiRecord<'ScheduledTask'>): string =>
  EXPORTED[entity_type].toLowerCase();

const columnsOf = ({ job_config }: ApiRecord<'ScheduledTask'>): string =>
  job_config.export_metadata_fields
    .map((field) => `${field.column_name} (${field.entity_type})`)
    .join(', ');

function Details({ task }: { readonly task: ApiRecord<'ScheduledTask'> }) {
  const { enabled, status, job_config: config } = task;
  const isOn = enabled && status === 'published';
  return (
    <Card>
      <Facts
        of={[
          [
            'Status',
            <Badge key="status" tone={isOn ? 'positive' : 'neutral'}>
              {status === 'published' ? (enabled ? 'On' : 'Off') : 'Deleted'}
            </Badge>,
          ],
          ['Schedule', INTERVALS[task.interval]],
          ['To', <bdi key="to">{placeOf(task)}</bdi>],
          ['Region', config.region],
          ['Address', config.endpoint_url],
          ['Compression', formatWord(config.compression)],
          ['Encryption', ENCRYPTION_WORDS[config.encryption]],
          ['Metadata columns', <bdi key="columns">{columnsOf(task) || '–'}</bdi>],
          ['Created', <Time key="created" at={task.created_at} />],
          ['Id', <Id key="id" of={task.id} />],
        ]}
      />
    </Card>
  );
}
