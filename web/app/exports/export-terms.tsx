import { Plus, Trash2 } from 'lucide-react';
import { useFieldArray, useWatch, type Control } from 'react-hook-form';
import * as z from 'zod';
import { COMPRESSIONS, ENCRYPTIONS } from '../../../schemas/storage.ts';
import { EXPORT_ENTITY_TYPES, EXPORT_INTERVALS } from '../../../schemas/words.ts';
import type { ApiRecord } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { CheckboxField, FieldRow, SelectField, TextField } from '../../ui/fields.tsx';
import { Row, Stack } from '../../ui/page.tsx';
import { ENCRYPTION_WORDS, EXPORTED, INTERVALS } from './export-words.ts';

/** Names are those of the request, so that a refusal stands at its field. */
export const ExportTerms = z.object({
  connection_id: z.string(),
  entity_type: z.enum(EXPORT_ENTITY_TYPES),
  interval: z.enum(EXPORT_INTERVALS),
  enabled: z.boolean(),
  job_config: z.object({
    bucket: z.string().max(63),
    region: z.string().max(64),
    key_prefix: z.string().max(512),
    compression: z.enum(COMPRESSIONS),
    encryption: z.enum(ENCRYPTIONS),
    endpoint_url: z.url('expected an address that begins with https://').or(z.literal('')),
    use_path_style: z.boolean(),
    export_metadata_fields: z.array(
      z.object({
        entity_type: z.enum(['customer', 'wallet']),
        field_key: z.string().min(1, 'is required').max(255),
        column_name: z.string().max(255),
      }),
    ),
  }),
});
export type ExportTerms = z.output<typeof ExportTerms>;

/** What a new export is at first. */
export const newTerms = (connection_id: string): ExportTerms => ({
  ...{ connection_id, entity_type: 'events', interval: 'daily', enabled: true },
  job_config: {
    ...{ bucket: '', region: '', key_prefix: '', compression: 'gzip', encryption: 'AES256' },
    ...{ endpoint_url: '', use_path_style: false, export_metadata_fields: [] },
  },
});

/** The terms of an export as the form holds them. */
export function termsOf({
  connection_id,
  entity_type,
  interval,
  enabled,
  job_config,
}: ApiRecord<'ScheduledTask'>): ExportTerms {
  return {
    ...{ connection_id, entity_type, interval, enabled },
    job_config: {
      ...job_config,
      endpoint_url: job_config.endpoint_url ?? '',
      export_metadata_fields: job_config.export_metadata_fields.map((field) => ({
        ...field,
        entity_type: field.entity_type === 'wallet' ? 'wallet' : 'customer',
      })),
    },
  };
}

/** Only what the chosen data has is sent: rows of events and of usage have no metadata. */
export const termsSent = (terms: ExportTerms): ExportTerms => ({
  ...terms,
  job_config: {
    ...terms.job_config,
    export_metadata_fields: terms.job_config.export_metadata_fields.filter((field) =>
      METADATA[terms.entity_type].includes(field.entity_type),
    ),
  },
});

/** Records whose metadata may be columns, by the data. */
const METADATA: Readonly<Record<ExportTerms['entity_type'], readonly ('customer' | 'wallet')[]>> = {
  events: [],
  usage_analytics: [],
  invoice: ['customer'],
  credit_topups: ['customer', 'wallet'],
  credit_usage: ['customer', 'wallet'],
};

/** What is exported, how often, and where to. An empty bucket or region is that of the connection. */
export function ExportTermsFields({
  control,
  buckets,
}: {
  readonly control: Control<ExportTerms>;
  /** Connections to buckets: id and name. */
  readonly buckets: readonly (readonly [string, string])[];
}) {
  const data = useWatch({ control, name: 'entity_type' });
  return (
    <>
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
        label="Schedule"
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
      <FieldRow>
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
        <SelectField
          control={control}
          name="job_config.encryption"
          label="Encryption"
          isRequired
          choices={ENCRYPTIONS.map((word) => [word, ENCRYPTION_WORDS[word]] as const)}
        />
      </FieldRow>
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
      {METADATA[data].length === 0 ? null : (
        <MetadataColumns control={control} of={METADATA[data]} />
      )}
      <CheckboxField
        control={control}
        name="enabled"
        label="On"
        hint="It runs by itself at the end of each window."
      />
    </>
  );
}

/** Values of metadata that become columns of the files. */
function MetadataColumns({
  control,
  of: records,
}: {
  readonly control: Control<ExportTerms>;
  readonly of: readonly ('customer' | 'wallet')[];
}) {
  const name = 'job_config.export_metadata_fields';
  const { fields, append, remove } = useFieldArray({ control, name });
  return (
    <Stack>
      {fields.map((field, index) => (
        <div key={field.id} role="group" aria-label={`Metadata column ${index + 1}`}>
          <SelectField
            control={control}
            name={`${name}.${index}.entity_type`}
            label={`Metadata of, column ${index + 1}`}
            isRequired
            choices={records.map((word) => [word, RECORDS[word]] as const)}
          />
          <FieldRow>
            <TextField
              control={control}
              name={`${name}.${index}.field_key`}
              label={`Key ${index + 1}`}
              isRequired
            />
            <TextField
              control={control}
              name={`${name}.${index}.column_name`}
              label={`Column name ${index + 1}`}
              hint="Empty: the key."
            />
          </FieldRow>
          <Row>
            <Button
              small
              tone="quiet"
              aria-label={`Remove metadata column ${index + 1}`}
              icon={<Trash2 size={14} aria-hidden />}
              onPress={() => remove(index)}
            >
              Remove
            </Button>
          </Row>
        </div>
      ))}
      <Row>
        <Button
          small
          icon={<Plus size={14} aria-hidden />}
          onPress={() => append({ entity_type: records[0]!, field_key: '', column_name: '' })}
        >
          Add metadata column
        </Button>
      </Row>
    </Stack>
  );
}

const RECORDS = { customer: 'Customer', wallet: 'Wallet' } as const;
