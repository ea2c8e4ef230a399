import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import * as z from 'zod';
import { COMPRESSIONS } from '../../../schemas/storage.ts';
import { EXPORT_ENTITY_TYPES, EXPORT_INTERVALS } from '../../../schemas/words.ts';
import { EXPORTED, INTERVALS } from '../../app/export-words.ts';
import { answerOf, api } from '../../client/api.ts';
import { CheckboxField, FieldRow, SelectField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { notify } from '../../ui/toasts.tsx';

const Body = z.object({
  connection_id: z.string(),
  entity_type: z.enum(EXPORT_ENTITY_TYPES),
  interval: z.enum(EXPORT_INTERVALS),
  job_config: z.object({
    bucket: z.string().max(63),
    region: z.string().max(64),
    key_prefix: z.string().max(512),
    compression: z.enum(COMPRESSIONS),
    endpoint_url: z.url('expected an address that begins with https://').or(z.literal('')),
    use_path_style: z.boolean(),
  }),
});

/** What is exported, how often, and where to. An empty bucket or region is that of the connection. */
export function ScheduledExportForm({
  buckets,
}: {
  /** Connections to buckets: id and name. */
  readonly buckets: readonly (readonly [string, string])[];
}) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const form = useApiForm(Body, {
    connection_id: buckets[0]![0],
    entity_type: 'events',
    interval: 'daily',
    job_config: {
      ...{ bucket: '', region: '', key_prefix: '', compression: 'gzip' },
      ...{ endpoint_url: '', use_path_style: false },
    },
  });
  const { control } = form;
  return (
    <Form
      form={form}
      submit="Create scheduled export"
      onSubmit={async (body) => {
        const { id } = await answerOf(api.POST('/tasks/scheduled', { body }));
        notify('Scheduled export created');
        await queries.invalidateQueries({ queryKey: ['scheduled-tasks'] });
        await navigate({ to: `/scheduled-exports/${id}` });
      }}
    >
      <SelectField
        control={control}
        name="entity_type"
        label="Data"
        isRequired
        choices={EXPORT_ENTITY_TYPES.map((word) => [word, EXPORTED[word]] as const)}
      />
      <SelectField
        control={control}
        name="interval"
        label="Every"
        hint="Windows are counted in UTC; a run exports the last complete one."
        isRequired
        choices={EXPORT_INTERVALS.map((word) => [word, INTERVALS[word]] as const)}
      />
      <SelectField
        control={control}
        name="connection_id"
        label="Connection"
        isRequired
        choices={buckets}
      />
      <FieldRow>
        <TextField control={control} name="job_config.bucket" label="Bucket" />
        <TextField control={control} name="job_config.region" label="Region" />
      </FieldRow>
      <TextField
        control={control}
        name="job_config.key_prefix"
        label="Folder"
        hint="Names of the files begin with it. An empty bucket or region is that of the connection."
      />
      <SelectField
        control={control}
        name="job_config.compression"
        label="Compression"
        isRequired
        choices={[
          ['gzip', 'Gzip'],
          ['none', 'None'],
        ]}
      />
      <TextField
        control={control}
        name="job_config.endpoint_url"
        label="Address of the storage"
        hint="Only for storage that is not of AWS."
        kind="url"
      />
      <CheckboxField
        control={control}
        name="job_config.use_path_style"
        label="The bucket is in the path"
        hint="Some storage has no host name for each bucket."
      />
    </Form>
  );
}
