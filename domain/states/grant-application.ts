import { GRANT_APPLICATION_STATUSES } from '../../schemas/words.ts';
import { move, type StateMachine } from './state-machine.ts';

export type GrantApplicationStatus = (typeof GRANT_APPLICATION_STATUSES)[number];

export const GRANT_APPLICATION_TRIGGERS = [
  'schedule', 'apply', 'fail', 'skip', 'defer', 'cancel',
] as const; // prettier-ignore
export type GrantApplicationTrigger = (typeof GRANT_APPLICATION_TRIGGERS)[number];

/** Money-semantics 21.7 and 5.4. `defer`: a draft, incomplete or trialing subscription waits. */
export const grantApplicationMachine: StateMachine<
  GrantApplicationStatus,
  GrantApplicationTrigger
> = {
  noun: 'credit grant application',
  field: 'application_status',
  refusal: 'invalid_operation',
  states: GRANT_APPLICATION_STATUSES,
  triggers: GRANT_APPLICATION_TRIGGERS,
  initial: { schedule: 'pending' },
  moves: {
    pending: {
      apply: 'applied',
      fail: 'failed',
      skip: 'skipped',
      defer: 'pending',
      cancel: 'cancelled',
    },
    failed: { apply: 'applied', fail: 'failed', skip: 'skipped', cancel: 'cancelled' },
    applied: {},
    skipped: {},
    cancelled: {},
  },
};

/** The status after `trigger`; refuses with `invalid_operation`. */
export const moveGrantApplication = (
  from: GrantApplicationStatus | null,
  trigger: GrantApplicationTrigger,
): GrantApplicationStatus => move(grantApplicationMachine, from, trigger);
