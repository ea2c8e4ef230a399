import { canMove, move, type StateMachine } from '../../../domain/states/state-machine.ts';
import { refusalOf } from '../../support/refusal.ts';

export interface Cell {
  readonly from: string | null;
  readonly trigger: string;
  /** Null: refused. */
  readonly to: string | null;
}

/**
 * A table as it is drawn: the first row names the triggers, the first cell of each further row a
 * state (`new` = no record yet), `.` is a refusal and `=` stays where it is.
 */
export function cells(table: string): Cell[] {
  const rows = table
    .trim()
    .split('\n')
    .map((row) => row.trim().split(/\s+/));
  const triggers = rows[0]!;
  return rows.slice(1).flatMap(([state, ...targets]) => {
    if (targets.length !== triggers.length) throw new Error(`${state}: ${targets.length} cells`);
    return targets.map((target, column) => ({
      from: state === 'new' ? null : state!,
      trigger: triggers[column]!,
      to: target === '.' ? null : target === '=' ? state! : target,
    }));
  });
}

/** Tests every pair of state and trigger against the drawing, and that the drawing has every pair. */
export function describeMachine<State extends string, Trigger extends string>(
  machine: StateMachine<State, Trigger>,
  table: string,
  step: (from: State | null, trigger: Trigger) => State = (from, trigger) =>
    move(machine, from, trigger),
): void {
  const drawn = cells(table);

  describe(`${machine.noun}: ${machine.field}`, () => {
    test('the drawing has every state and every trigger once', () => {
      const pairs = [null, ...machine.states].flatMap((from) =>
        machine.triggers.map((trigger) => `${from} ${trigger}`),
      );
      expect(drawn.map(({ from, trigger }) => `${from} ${trigger}`).sort()).toEqual(pairs.sort());
    });

    test.each(drawn)('$from + $trigger -> $to', ({ from, trigger, to }) => {
      const [state, event] = [from as State | null, trigger as Trigger];
      if (to !== null) {
        expect(step(state, event)).toBe(to);
        expect(canMove(machine, state, event)).toBe(true);
        return;
      }
      const refusal = refusalOf(() => step(state, event));
      expect(refusal.kind).toBe('invalid');
      expect(refusal.code).toBe(machine.refusal);
      expect(refusal.details).toEqual([
        { path: machine.field, code: 'illegal_transition', message: refusal.message },
      ]);
    });
  });
}
