import { z } from 'zod';
import {
  id,
  instant,
  name,
  optionalOneOf,
  optionalText,
  pairs,
  recordFields,
  text,
} from './primitives.ts';
import { searchSchemas } from './search.ts';
import { TASK_ENTITY_TYPES, TASK_FILE_TYPES, TASK_STATUSES, TASK_TYPES } from './words.ts';

/** The largest file, decoded (specification, Limits). */
export const UPLOAD_BYTES_MAX = 5 * 1024 * 1024;

/** Maximum total size of an environment's stored files; files are kept for seven days. */
export const UPLOADS_KEPT_BYTES_MAX = 1024 * 1024 * 1024;

export const UploadBody = z.custom<Buffer>(
  (value) => Buffer.isBuffer(value) && value.length > 0,
  'send the file itself, with Content-Type text/csv',
);

export const UploadQuery = z.object({ file_name: name().optional() });

export const Upload = z
  .object({
    ...recordFields,
    /** The id that `POST /tasks` takes. */
    upload_id: z.string(),
    file_name: z.string().nullable(),
    file_type: z.enum(TASK_FILE_TYPES),
    size_bytes: z.int(),
    /** Hash of the decoded file, hexadecimal. */
    sha256: z.string(),
    columns: z.array(z.string()),
    row_count: z.int(),
  })
  .meta({ id: 'Upload' });
export type Upload = z.infer<typeof Upload>;

const upper = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.preprocess(
    (value) => (typeof value === 'string' ? value.toUpperCase() : value),
    optionalOneOf(values),
  );

export const CreateTaskBody = z
  .object({
    upload_id: id,
    file_provider: z.enum(['csvbox']),
    task_type: upper(TASK_TYPES),
    entity_type: upper(TASK_ENTITY_TYPES),
    file_type: upper(TASK_FILE_TYPES),
    file_name: optionalText(255),
    /** No longer supported: files are uploaded, never fetched. */
    file_url: optionalText(2048),
    metadata: pairs(z.unknown(), 256).nullish(),
  })
  .superRefine((body, context) => {
    const refuse = (path: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [path], message });
    if (body.file_url)
      refuse('file_url', 'is gone: send the file to POST /tasks/uploads and name it by upload_id');
    if (body.task_type === 'EXPORT')
      refuse('task_type', 'EXPORT is not a task: use GET /events/export or GET /usage/export');
    if (body.entity_type && body.entity_type !== 'EVENTS')
      refuse('entity_type', `${body.entity_type} is not offered: only EVENTS are imported`);
    if (body.file_type && body.file_type !== 'CSV')
      refuse('file_type', `${body.file_type} is not offered: only CSV is imported`);
  });
export type CreateTaskBody = z.output<typeof CreateTaskBody>;

export const UpdateTaskStatusBody = z.object({ task_status: z.enum(TASK_STATUSES) });

/** Stored fields of a task. */
export const taskFields = {
  ...recordFields,
  task_type: z.enum(TASK_TYPES),
  entity_type: z.enum(TASK_ENTITY_TYPES),
  file_provider: z.string(),
  upload_id: z.string(),
  file_type: z.enum(TASK_FILE_TYPES),
  file_name: z.string().nullable(),
  task_status: z.enum(TASK_STATUSES),
  total_records: z.int(),
  processed_records: z.int(),
  successful_records: z.int(),
  failed_records: z.int(),
  /** Why it failed, or the first failed rows. */
  error_summary: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()),
  started_at: instant.nullable(),
  completed_at: instant.nullable(),
  failed_at: instant.nullable(),
};
const StoredTask = z.object(taskFields);
export type TaskRow = z.infer<typeof StoredTask>;

export const Task = z
  .object({
    ...taskFields,
    /** Always null: files are uploaded, never fetched, but older clients expect the key. */
    file_url: z.null(),
    /** Always null: a task is an import; runs of scheduled exports are answered by `POST /workflows/search`. */
    scheduled_task_id: z.null(),
    workflow_id: z.null(),
  })
  .meta({ id: 'Task' });
export type Task = z.infer<typeof Task>;

/** URL of the results of a task's rows, as CSV. */
export const TaskDownload = z.object({ download_url: z.string() });

export const TaskSearch = searchSchemas({
  fields: {
    task_type: 'text',
    entity_type: 'text',
    task_status: 'text',
    file_name: 'text',
    status: 'text',
    created_at: 'time',
    updated_at: 'time',
  },
  expand: [],
  filters: (kind) => ({
    task_type: kind.oneOf(TASK_TYPES),
    entity_type: kind.oneOf(TASK_ENTITY_TYPES),
    task_status: kind.oneOf(TASK_STATUSES),
    created_by: kind.text(),
    scheduled_task_id: kind.text(),
  }),
});
