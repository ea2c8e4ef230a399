import { z } from 'zod';
import { id, instant } from './primitives.ts';
import { LIMIT_MAX, searchSchemas } from './search.ts';

export const WORKFLOW_STATUSES = ['Running', 'Completed', 'Failed'] as const;
/** Statuses that clients may filter by; some of them never occur. */
const KNOWN_STATUSES = [
  ...WORKFLOW_STATUSES,
  'Canceled',
  'Terminated',
  'ContinuedAsNew',
  'TimedOut',
  'Unknown',
] as const;

const nullableText = z.string().nullable();

/** Fields of every answer about a workflow. */
export const executionFields = {
  workflow_id: z.string(),
  run_id: z.string(),
  workflow_type: z.string(),
  status: z.enum(WORKFLOW_STATUSES),
  start_time: instant,
  close_time: instant.nullable(),
  duration_ms: z.int().nullable(),
  /** The duration as text, for example `1m 5s`. */
  total_duration: nullableText,
};

/** Background work: the import of a file, the run of a scheduled export, the onboarding of a customer. */
export const Workflow = z
  .object({
    ...executionFields,
    task_queue: z.string(),
    /** The entity that the work processes. */
    entity: z.string(),
    entity_id: z.string(),
    created_by: z.string(),
  })
  .meta({ id: 'Workflow' });
export type Workflow = z.infer<typeof Workflow>;

const TimelineItem = z.object({
  event_type: z.string(),
  timestamp: instant,
  details: nullableText,
});

export const WorkflowDetails = z
  .object({
    ...executionFields,
    task_queue: z.string(),
    history_size: z.int(),
    activities: z.array(z.unknown()).max(0),
    timeline: z.array(TimelineItem),
    metadata: z.object({ entity: z.string(), entity_id: z.string(), error: nullableText }),
  })
  .meta({ id: 'WorkflowDetails' });
export type WorkflowDetails = z.infer<typeof WorkflowDetails>;

export const WorkflowSummary = z
  .object({ ...executionFields, activity_count: z.int(), failed_activities: z.int() })
  .meta({ id: 'WorkflowSummary' });

export const WorkflowTimeline = z
  .object({
    workflow_id: z.string(),
    run_id: z.string(),
    start_time: instant,
    close_time: instant.nullable(),
    items: z.array(TimelineItem),
  })
  .meta({ id: 'WorkflowTimeline' });

export const WorkflowParams = z.object({ workflow_id: id, run_id: id });

export const WorkflowBatchBody = z.object({
  workflows: z
    .array(z.object({ workflow_id: id, run_id: id }))
    .min(1)
    .max(100),
  include_activities: z.boolean().nullish(),
});
export const WorkflowBatch = z.object({ workflows: z.array(WorkflowDetails) });

const inRange = (value: number | null | undefined) => value == null || value >= 1;

export const WorkflowSearch = searchSchemas({
  fields: {
    workflow_id: 'text',
    workflow_type: 'text',
    workflow_status: 'text',
    task_queue: 'text',
    entity: 'text',
    entity_id: 'text',
    start_time: 'time',
    close_time: 'time',
    created_at: 'time',
  },
  filters: (kind) => ({
    workflow_id: kind.text(),
    workflow_type: kind.text(),
    workflow_status: kind.oneOf(KNOWN_STATUSES),
    task_queue: kind.text(),
    entity: kind.text(),
    entity_id: kind.text(),
    /** Alternatives to limit and offset. */
    page: kind.integer().refine(inRange, { message: 'begins at 1' }),
    page_size: kind.integer().refine((value) => inRange(value) && (value ?? 1) <= LIMIT_MAX, {
      message: `must be from 1 to ${LIMIT_MAX}`,
    }),
  }),
});
