import { pageOf } from '../../../schemas/search.ts';
import {
  executionFields,
  Workflow,
  WorkflowBatch,
  WorkflowBatchBody,
  WorkflowDetails,
  WorkflowParams,
  WorkflowSearch,
  WorkflowSummary,
  WorkflowTimeline,
} from '../../../schemas/workflow.ts';
import { picked } from '../../conventions/picked.ts';
import { route } from '../../conventions/route.ts';
import { getWorkflow, searchWorkflows } from './repository.ts';

export const workflowRoutes = [
  route({
    method: 'POST',
    path: '/workflows/search',
    summary: 'Search imports, exports and onboardings that run in the background',
    permission: 'workflow:read',
    body: WorkflowSearch.body,
    status: 200,
    answer: pageOf(Workflow),
    handler: ({ deps, scope, body }) => searchWorkflows(deps.pool, scope, body),
  }),
  route({
    method: 'POST',
    path: '/workflows/batch',
    summary: 'Get several workflows; 404 if one is not found',
    permission: 'workflow:read',
    body: WorkflowBatchBody,
    status: 200,
    answer: WorkflowBatch,
    async handler({ deps, scope, body }) {
      const found = body.workflows.map((named) => getWorkflow(deps.pool, scope, named));
      return { workflows: await Promise.all(found) };
    },
  }),
  route({
    method: 'GET',
    path: '/workflows/{workflow_id}/{run_id}',
    summary: 'Get a workflow',
    permission: 'workflow:read',
    params: WorkflowParams,
    status: 200,
    answer: WorkflowDetails,
    handler: ({ deps, scope, params }) => getWorkflow(deps.pool, scope, params),
  }),
  route({
    method: 'GET',
    path: '/workflows/{workflow_id}/{run_id}/summary',
    summary: 'Get the summary of a workflow',
    permission: 'workflow:read',
    params: WorkflowParams,
    status: 200,
    answer: WorkflowSummary,
    async handler({ deps, scope, params }) {
      const workflow = await getWorkflow(deps.pool, scope, params);
      return {
        ...picked(executionFields, workflow),
        activity_count: workflow.activities.length,
        failed_activities: 0,
      };
    },
  }),
  route({
    method: 'GET',
    path: '/workflows/{workflow_id}/{run_id}/timeline',
    summary: 'Get the timeline of a workflow, oldest first',
    permission: 'workflow:read',
    params: WorkflowParams,
    status: 200,
    answer: WorkflowTimeline,
    async handler({ deps, scope, params }) {
      const { workflow_id, run_id, start_time, close_time, timeline } = await getWorkflow(
        deps.pool,
        scope,
        params,
      );
      return { workflow_id, run_id, start_time, close_time, items: timeline };
    },
  }),
];
