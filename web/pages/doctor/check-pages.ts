import type { Permission } from '../../../domain/access/permissions.ts';

interface CheckPage {
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
  readonly permission: Permission;
}

const WEBHOOKS: CheckPage = { to: '/webhooks', permission: 'webhook:read' };

/** By the name of a check of the service: the page with the records that it counts. */
export const CHECK_PAGES: Readonly<Partial<Record<string, CheckPage>>> = {
  meters: { to: '/meters', permission: 'meter:read' },
  'subscriptions that cannot be billed': {
    to: '/subscriptions',
    permission: 'subscription:read',
  },
  'webhook endpoints that fail': WEBHOOKS,
  'webhook endpoints that were disabled': WEBHOOKS,
  'notifications without attempts left, in the last week': WEBHOOKS,
  'tasks that failed in the last week': {
    to: '/tasks',
    search: { task_status: 'FAILED' },
    permission: 'task:read',
  },
  'runs of exports that failed in the last week': { to: '/tasks', permission: 'task:read' },
};
