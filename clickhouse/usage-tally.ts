import {
  countText,
  mergeStates,
  quantityOf,
  scaledText,
  type UsageState,
} from '../domain/metering/usage-state.ts';
import type { UsageAnswer, UsageRow } from '../domain/metering/usage.ts';
import { isoText } from '../domain/time/instant.ts';
import { Pieces } from './pieces.ts';
import type { UsagePart } from './queries/usage-buckets.ts';
import { EMPTY_STATE, groupOf, matches, type Cell, type PlannedQuery } from './usage-plan.ts';

interface Entry {
  readonly group: readonly string[];
  readonly cell: Cell;
  readonly is_carry: boolean;
  state: UsageState;
  unique_count: number;
}

/** Adds up the parts of one question, per cell and group, and answers it. */
export class UsageTally {
  readonly plan: PlannedQuery;
  readonly #entries = new Map<string, Entry>();

  constructor(plan: PlannedQuery) {
    this.plan = plan;
  }

  get size(): number {
    return this.#entries.size;
  }

  add(cell: number, part: UsagePart): void {
    if (part.state.event_count === 0 || !matches(this.plan, part)) return;
    const entry = this.#entry(cell, groupOf(this.plan, part));
    entry.state = entry.state === EMPTY_STATE ? part.state : mergeStates(entry.state, part.state);
  }

  /** Distinct values of a cell and group as counted elsewhere, with the events that `add` has not seen. */
  addUniques(cell: number, group: readonly string[], uniques: number, events: number): void {
    if (uniques === 0 && events === 0) return;
    const entry = this.#entry(cell, group);
    entry.unique_count += uniques;
    entry.state = { ...entry.state, event_count: entry.state.event_count + events };
  }

  async answer(): Promise<UsageAnswer> {
    const { query } = this.plan;
    const isPlain = query.window === null && query.group_by.length === 0;
    const rows = await this.#rows();
    if (isPlain && rows.length === 0)
      rows.push({ group: [], window_start: null, quantity: '0', event_count: 0 });
    return { key: query.key, rows };
  }

  /** By window, then group. */
  async #rows(): Promise<UsageRow[]> {
    const carried = [...this.#entries.values()].filter((entry) => entry.is_carry);
    const entries = [...this.#entries.values()].filter((entry) => !entry.is_carry);
    // A group that only has something carried in is answered too.
    for (const { group } of carried) {
      const cell = this.plan.cells.length - 1;
      if (!this.#entries.has(keyOf(cell, group))) entries.push(this.#entry(cell, group));
    }
    entries.sort((a, b) => a.cell.start - b.cell.start || compareGroups(a.group, b.group));
    const rows: UsageRow[] = [];
    const pieces = new Pieces();
    for (const entry of entries) {
      rows.push(this.#row(entry));
      if (pieces.isDone()) await pieces.breathe();
    }
    return rows;
  }

  #row(entry: Entry): UsageRow {
    const { window_start } = entry.cell;
    return {
      group: entry.group,
      window_start: window_start === null ? null : isoText(window_start),
      quantity: this.#quantity(entry),
      event_count: entry.state.event_count + (this.#carried(entry)?.event_count ?? 0),
    };
  }

  #carried(entry: Entry): UsageState | undefined {
    const carried = this.#entries.get(keyOf(0, entry.group));
    return carried?.is_carry === true ? carried.state : undefined;
  }

  #quantity(entry: Entry): string {
    const { aggregation, multiplier } = this.plan.query;
    if (aggregation === 'COUNT_UNIQUE') return countText(entry.unique_count);
    const carry = this.#carried(entry)?.sum ?? 0n;
    if (entry.state.event_count === 0) return scaledText(carry);
    return scaledText(quantityOf(aggregation, entry.state, entry.cell, multiplier) + carry);
  }

  #entry(cell: number, group: readonly string[]): Entry {
    const key = keyOf(cell, group);
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      const at = this.plan.cells[cell]!;
      entry = { group, cell: at, is_carry: at.is_carry, state: EMPTY_STATE, unique_count: 0 };
      this.#entries.set(key, entry);
    }
    return entry;
  }
}

function keyOf(cell: number, group: readonly string[]): string {
  return group.length === 0 ? String(cell) : `${cell} ${JSON.stringify(group)}`;
}

function compareGroups(a: readonly string[], b: readonly string[]): number {
  for (let index = 0; index < a.length; index += 1) {
    if (a[index]! !== b[index]!) return a[index]! < b[index]! ? -1 : 1;
  }
  return 0;
}
