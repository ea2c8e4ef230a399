import { PAUSE_RECORD_STATUSES } from '../../schemas/words.ts';
import { move, type StateMachine } from './state-machine.ts';

export type PauseRecordStatus = (typeof PAUSE_RECORD_STATUSES)[number];
export type PauseStatus = PauseRecordStatus | 'none';

export const PAUSE_TRIGGERS = [
  'pause_now', 'schedule', 'start', 'withdraw', 'resume', 'cancel_subscription',
] as const; // prettier-ignore
export type PauseTrigger = (typeof PAUSE_TRIGGERS)[number];

/** Billing-semantics 19.2. `schedule` covers the modes `scheduled` and `period_end`. */
export const pauseMachine: StateMachine<PauseRecordStatus, PauseTrigger> = {
  noun: 'pause',
  field: 'pause_status',
  refusal: 'invalid_operation',
  states: PAUSE_RECORD_STATUSES,
  triggers: PAUSE_TRIGGERS,
  initial: { pause_now: 'active', schedule: 'scheduled' },
  moves: {
    scheduled: { start: 'active', withdraw: 'cancelled', cancel_subscription: 'cancelled' },
    active: { resume: 'completed', cancel_subscription: 'completed' },
    completed: {},
    cancelled: {},
  },
};

/** The status of the pause record after `trigger`; refuses with `invalid_operation`. */
export const movePause = (
  from: PauseRecordStatus | null,
  trigger: PauseTrigger,
): PauseRecordStatus => move(pauseMachine, from, trigger);

/**
 * `pause_status` of the subscription from its latest pause: `none` unless scheduled or active
 * (billing 19.2, 12.5).
 */
export const mirroredPauseStatus = (pause: PauseRecordStatus | null): PauseStatus =>
  pause === 'scheduled' || pause === 'active' ? pause : 'none';
