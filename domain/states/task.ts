import { TASK_STATUSES } from '../../schemas/words.ts';
import { move, targetMachine } from './state-machine.ts';

export type TaskStatus = (typeof TASK_STATUSES)[number];

/** The caller gives the target status: the worker, or a user who stops or resumes a task. */
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

/** The status after the move; refuses with `validation_error`. `from` null creates the task. */
export const moveTask = (from: TaskStatus | null, to: TaskStatus): TaskStatus =>
  move(taskMachine, from, to);
