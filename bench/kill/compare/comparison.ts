import type { Random } from '../../random.ts';
import type { Ledger, Totals } from '../ledger.ts';
import type { Tree } from '../tree.ts';
import type { Edits } from '../work/edits.ts';
import type { Sold } from './invoices.ts';

/** One way to read usage, compared with the record of the run. One file per way. */
export interface Comparison {
  readonly name: string;
  /** Everything that differs, in words. Called again while the stream still has work. */
  differences(world: Compared): Promise<string[]>;
}

export interface Compared {
  readonly tree: Tree;
  readonly random: Random;
  readonly ledger: Ledger;
  /** The settings of the product: of its data and of its log. */
  readonly environment: Readonly<Record<string, string>>;
  /** By customer. */
  readonly totals: ReadonlyMap<string, Totals>;
  readonly meterIds: readonly string[];
  readonly edits: Edits;
  readonly period: { readonly start: string; readonly end: string };
  /** Sells the meters to every customer, once. */
  sold(): Promise<readonly Sold[]>;
}

/** The call that reads usage; the answer of a question that may be repeated. */
export { untilAnswered as ask } from '../until-answered.ts';

/** A difference in words; nothing if both are the same number. */
export function differs(what: string, found: unknown, expected: string | number): string[] {
  return Number(found) === Number(expected) && found !== null
    ? []
    : [`${what}: ${String(found)}, expected ${expected}`];
}

/** The differences of all, asked at the same time: an answer waits for others longer than it takes. */
export async function ofEach<Item>(
  all: Iterable<Item>,
  differences: (item: Item) => Promise<string[]>,
): Promise<string[]> {
  return (await Promise.all([...all].map(differences))).flat();
}
