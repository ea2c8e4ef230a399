/**
 * A state is a short list of small whole numbers (below 65,536), so that its identity is one string
 * and millions of them fit in memory.
 */
export type State = readonly number[];

export interface Model {
  readonly start: State;
  /** Emits every state that one step of anybody leads to. */
  next(state: State, emit: (state: number[]) => void): void;
  /** Whether the state breaks the promise. */
  violates(state: State): boolean;
}

export interface Search {
  readonly states: number;
  /** The first state found that breaks the promise, or null: no interleaving does. */
  readonly violation: State | null;
}

/** Visits every state that can be reached, nearest first, until one breaks the promise. */
export function search(model: Model): Search {
  const seen = new Set<string>([keyOf(model.start)]);
  let frontier: State[] = [model.start];
  while (frontier.length > 0) {
    const reached: State[] = [];
    for (const state of frontier) {
      if (model.violates(state)) return { states: seen.size, violation: state };
      model.next(state, (next) => {
        const key = keyOf(next);
        if (seen.has(key)) return;
        seen.add(key);
        reached.push(next);
      });
    }
    frontier = reached;
  }
  return { states: seen.size, violation: null };
}

const keyOf = (state: State): string => String.fromCharCode(...state);
