import { IdParams, Message } from '../../../schemas/primitives.ts';
import { pageOf } from '../../../schemas/search.ts';
import {
  CreateTaskBody,
  Task,
  TaskDownload,
  TaskSearch,
  UpdateTaskStatusBody,
  Upload,
  UPLOAD_BYTES_MAX,
  UploadBody,
  UploadQuery,
} from '../../../schemas/task.ts';
import { route } from '../../conventions/route.ts';
import { changeTaskStatus } from './change-task-status.ts';
import { createTask } from './create-task.ts';
import { createUpload } from './create-upload.ts';
import { getTask, searchTasks, taskAnswer } from './repository.ts';
import { taskResults } from './task-results.ts';

export const taskRoutes = [
  route({
    method: 'POST',
    path: '/tasks/uploads',
    summary: 'Send a CSV file of events, up to 5 MB, for a task to import',
    permission: 'task:write',
    query: UploadQuery,
    body: UploadBody,
    bodyType: 'text/csv',
    bodyLimitBytes: UPLOAD_BYTES_MAX,
    status: 201,
    answer: Upload,
    handler: (call) =>
      createUpload(call.deps, call, {
        body: call.body,
        encoding: headerText(call.headers['content-encoding']),
        name: call.query.file_name ?? null,
      }),
  }),
  route({
    method: 'POST',
    path: '/tasks',
    summary: 'Import an uploaded file of events',
    permission: 'task:write',
    body: CreateTaskBody,
    status: 202,
    answer: Task,
    handler: (call) => call.deps.pool.begin((tx) => createTask(tx, call.deps, call, call.body)),
  }),
  route({
    method: 'GET',
    path: '/tasks',
    summary: 'List tasks',
    permission: 'task:read',
    query: TaskSearch.query,
    status: 200,
    answer: pageOf(Task),
    handler: ({ deps, scope, query }) => searchTasks(deps.pool, scope, query),
  }),
  route({
    method: 'POST',
    path: '/tasks/search',
    summary: 'Search tasks',
    permission: 'task:read',
    body: TaskSearch.body,
    status: 200,
    answer: pageOf(Task),
    handler: ({ deps, scope, body }) => searchTasks(deps.pool, scope, body),
  }),
  route({
    method: 'GET',
    path: '/tasks/{id}',
    summary: 'Get a task with its progress',
    permission: 'task:read',
    params: IdParams,
    status: 200,
    answer: Task,
    handler: async ({ deps, scope, params }) =>
      taskAnswer(await getTask(deps.pool, scope, params.id)),
  }),
  route({
    method: 'GET',
    path: '/tasks/{id}/download',
    summary: 'Get the location of a task’s results',
    permission: 'task:read',
    params: IdParams,
    status: 200,
    answer: TaskDownload,
    handler: async ({ deps, scope, params }) => {
      const { id } = await getTask(deps.pool, scope, params.id);
      return { download_url: `${deps.publicUrl}/v1/tasks/${id}/results` };
    },
  }),
  route({
    method: 'GET',
    path: '/tasks/{id}/results',
    summary: 'Get the result of each row of the file so far, as CSV',
    permission: 'task:read',
    params: IdParams,
    status: 200,
    answer: null,
    contentType: 'text/csv; charset=utf-8',
    handler: async ({ deps, scope, params }) =>
      (await taskResults(deps.pool, scope, params.id)) as never,
  }),
  route({
    method: 'PUT',
    path: '/tasks/{id}/status',
    summary: 'Stop or resume a task',
    permission: 'task:write',
    params: IdParams,
    body: UpdateTaskStatusBody,
    status: 200,
    answer: Message,
    handler: async (call) => {
      const { task_status } = call.body;
      await call.deps.pool.begin((tx) =>
        changeTaskStatus(tx, call.deps, call, call.params.id, task_status),
      );
      return { message: 'Task status updated successfully' };
    },
  }),
];

const headerText = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(',') : value;
