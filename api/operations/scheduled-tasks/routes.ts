import { invalidField } from '../../../domain/errors.ts';
import { exportWindow } from '../../../domain/time/export-window.ts';
import { isoTime } from '../../../platform/clock.ts';
import { IdParams } from '../../../schemas/primitives.ts';
import {
  CreateScheduledTaskBody,
  RunScheduledTaskBody,
  ScheduledTask,
  ScheduledTaskRun,
  ScheduledTaskSearch,
  UpdateScheduledTaskBody,
} from '../../../schemas/scheduled-task.ts';
import { pageOf } from '../../../schemas/search.ts';
import { lockConnection } from '../../tenancy/connections/repository.ts';
import { changed, newRecord } from '../../conventions/record.ts';
import { route } from '../../conventions/route.ts';
import { jobConfigOf } from './job-config.ts';
import {
  getScheduledTask,
  insertRun,
  insertScheduledTask,
  lockScheduledTask,
  searchScheduledTasks,
  updateScheduledTaskRow,
} from './repository.ts';

export const scheduledTaskRoutes = [
  route({
    method: 'POST',
    path: '/tasks/scheduled',
    summary: 'Schedule an export over a connection to object storage',
    permission: 'task:write',
    body: CreateScheduledTaskBody,
    status: 201,
    answer: ScheduledTask,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const { connection_id, enabled, job_config, ...terms } = call.body;
        const connection = await lockConnection(tx, call.scope, connection_id);
        if (connection.provider_type !== 's3')
          throw invalidField(
            'connection_id',
            `is a connection to ${connection.provider_type}, not s3`,
          );
        return await insertScheduledTask(tx, {
          ...newRecord(call.deps, call, 'sched_task'),
          connection_id,
          enabled: enabled ?? true,
          ...terms,
          job_config: jobConfigOf(job_config, connection.sync_config.s3),
        });
      }),
  }),
  route({
    method: 'GET',
    path: '/tasks/scheduled',
    summary: 'List scheduled exports',
    permission: 'task:read',
    query: ScheduledTaskSearch.query,
    status: 200,
    answer: pageOf(ScheduledTask),
    handler: ({ deps, scope, query }) => searchScheduledTasks(deps.pool, scope, query),
  }),
  route({
    method: 'POST',
    path: '/tasks/scheduled/search',
    summary: 'Search scheduled exports',
    permission: 'task:read',
    body: ScheduledTaskSearch.body,
    status: 200,
    answer: pageOf(ScheduledTask),
    handler: ({ deps, scope, body }) => searchScheduledTasks(deps.pool, scope, body),
  }),
  route({
    method: 'GET',
    path: '/tasks/scheduled/{id}',
    summary: 'Get a scheduled export',
    permission: 'task:read',
    params: IdParams,
    status: 200,
    answer: ScheduledTask,
    handler: ({ deps, scope, params }) => getScheduledTask(deps.pool, scope, params.id),
  }),
  route({
    method: 'PUT',
    path: '/tasks/scheduled/{id}',
    summary: 'Pause or resume a scheduled export',
    permission: 'task:write',
    params: IdParams,
    body: UpdateScheduledTaskBody,
    status: 200,
    answer: ScheduledTask,
    handler: (call) =>
      call.deps.pool.begin((tx) =>
        updateScheduledTaskRow(tx, call.scope, call.params.id, {
          enabled: call.body.enabled,
          ...changed(call.deps, call),
        }),
      ),
  }),
  route({
    method: 'DELETE',
    path: '/tasks/scheduled/{id}',
    summary: 'Archive a scheduled export',
    permission: 'task:write',
    params: IdParams,
    status: 204,
    answer: null,
    async handler(call) {
      await call.deps.pool.begin((tx) =>
        updateScheduledTaskRow(tx, call.scope, call.params.id, {
          status: 'archived',
          enabled: false,
          ...changed(call.deps, call),
        }),
      );
    },
  }),
  route({
    method: 'POST',
    path: '/tasks/scheduled/{id}/run',
    summary: 'Request a run of a scheduled export, for a given window or the last complete one',
    permission: 'task:write',
    params: IdParams,
    body: RunScheduledTaskBody.optional(),
    status: 200,
    answer: ScheduledTaskRun,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const { start_time: start, end_time: end } = call.body ?? {};
        const task = await lockScheduledTask(tx, call.scope, call.params.id);
        const window =
          start && end
            ? { start, end }
            : exportWindow(task.interval, isoTime(call.deps.clock.now()));
        const mode = start && end ? ('custom' as const) : ('automatic' as const);
        const run = newRecord(call.deps, call, 'sched_run');
        await insertRun(tx, { ...run, scheduled_task_id: task.id, mode, window });
        return {
          workflow_id: run.id,
          message: `Export of ${task.entity_type} requested`,
          mode,
          start_time: window.start,
          end_time: window.end,
        };
      }),
  }),
];
