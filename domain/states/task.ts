import { TASK_STATUSES } from '../../schemas/words.ts';
import { move, targetMachine } from './state-machine.ts';

export type TaskStatus = (typeof TASK_STATUSES)[number];

/** Somebody names the status to go to: the worker, or a person who stops a task or lets it go on. */
export const taskMachine = targetMachine<TaskStatus>({
  noun: 'task',
  field: 'task_status',
  states: TASK_STATUSES,
  initial: ['PENDING'],
  targets: {
    PENDING: ['PROCESSING', 'FAILED'],
    PROCESSING: ['COMPLETED', 'FAILED'],
    COMPLETED: [],
    FAILED: ['PROCESSING'],
  },
});

/** The status after the move; refuses with `validation_error`. */
export const moveTask = (from: TaskStatus, to: TaskStatus): TaskStatus =>
  move(taskMachine, from, to);
