import type { Walker } from './client.ts';

/** Alert logs, exports on a schedule, imports, integrations, workflows. */
export async function walkOperations({ walk }: Walker): Promise<void> {
  await walk('POST /alerts/search', (sdk) => sdk.alerts.queryAlertLog({ limit: 10 } as never));
  await walk('GET /tasks', (sdk) => sdk.tasks.listTasks({ limit: 10 } as never));
  await walk('GET /tasks/scheduled', (sdk) => sdk.scheduledTasks.listScheduledTasks());
  await walk('GET /secrets/integrations/linked', (sdk) =>
    sdk.integrations.listLinkedIntegrations(),
  );
  await walk('POST /workflows/search', (sdk) => sdk.workflows.queryWorkflow({} as never));
}
