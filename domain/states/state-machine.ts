import { withArticle } from '../article.ts';
import { BillingError } from '../errors.ts';

/**
 * A table of states and triggers. Moves outside the table are refused. `initial` are the moves that create
 * the record. A move to the same state is an accepted no-op.
 */
export interface StateMachine<State extends string, Trigger extends string> {
  /** Name of the record in messages: "A cancelled subscription …". */
  readonly noun: string;
  /** Field of the record in the API. */
  readonly field: string;
  /** Code of the refusal: `validation_error` if the client sends the target state. */
  readonly refusal: 'invalid_operation' | 'validation_error';
  readonly states: readonly State[];
  readonly triggers: readonly Trigger[];
  readonly initial: { readonly [trigger in Trigger]?: State };
  readonly moves: { readonly [state in State]: { readonly [trigger in Trigger]?: State } };
}

/**
 * The state after `trigger`; `from` null creates the record. Refuses with kind `invalid`, the code of the
 * machine, and detail code `illegal_transition` on the field of the machine.
 */
export function move<State extends string, Trigger extends string>(
  machine: StateMachine<State, Trigger>,
  from: State | null,
  trigger: Trigger,
): State {
  const to = target(machine, from, trigger);
  if (to === undefined) throw illegalTransition(machine, from, trigger);
  return to;
}

/** Whether the table contains the move. */
export function canMove<State extends string, Trigger extends string>(
  machine: StateMachine<State, Trigger>,
  from: State | null,
  trigger: Trigger,
): boolean {
  return target(machine, from, trigger) !== undefined;
}

/**
 * A machine whose triggers are its states: the caller gives the target state. A move to the same state is
 * always accepted.
 */
export function targetMachine<State extends string>(description: {
  readonly noun: string;
  readonly field: string;
  readonly states: readonly State[];
  readonly initial: readonly State[];
  readonly targets: { readonly [state in State]: readonly State[] };
}): StateMachine<State, State> {
  const row = (to: readonly State[]) =>
    Object.fromEntries(to.map((state) => [state, state])) as { [state in State]?: State };
  const moves = Object.fromEntries(
    description.states.map((from) => [from, row([from, ...description.targets[from]])]),
  ) as StateMachine<State, State>['moves'];
  return {
    noun: description.noun,
    field: description.field,
    refusal: 'validation_error',
    states: description.states,
    triggers: description.states,
    initial: row(description.initial),
    moves,
  };
}

function target<State extends string, Trigger extends string>(
  machine: StateMachine<State, Trigger>,
  from: State | null,
  trigger: Trigger,
): State | undefined {
  const row = from === null ? machine.initial : machine.moves[from];
  return Object.hasOwn(row, trigger) ? row[trigger] : undefined;
}

function illegalTransition<State extends string, Trigger extends string>(
  machine: StateMachine<State, Trigger>,
  from: State | null,
  trigger: Trigger,
): BillingError {
  const allowed = from === null ? machine.initial : machine.moves[from];
  const names = Object.keys(allowed).filter((name) => name !== from);
  const message =
    `${from === null ? 'A new' : withArticle(from)} ${machine.noun} does not accept ${trigger}` +
    (names.length === 0 ? '.' : `; it accepts ${names.join(', ')}.`);
  return new BillingError('invalid', machine.refusal, message, [
    { path: machine.field, code: 'illegal_transition', message },
  ]);
}
