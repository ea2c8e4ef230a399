import {
  mergeStates,
  quantityOf,
  scaledText,
  type UsageState,
} from '../../domain/metering/usage-state.ts';
import type { UsageAnswer, UsageRow } from '../../domain/metering/usage.ts';
import { isoText } from '../../domain/time/instant.ts';
import { Pieces } from './pieces.ts';
import type { UsagePart } from '../queries/usage-buckets.ts';
import {
  counts,
  EMPTY_STATE,
  groupOf,
  type Cell,
  type PlannedQuery,
} from '../queries/plan-query.ts';

/** The result for one combination of `group_by` values. */
interface Group {
  readonly values: readonly string[];
  /** By the cell's index: a month of minutes has 44,640 cells, so the keys are numbers. */
  readonly cells: Map<number, Entry>;
}

interface Entry {
  readonly group: Group;
  readonly cell: Cell;
  state: UsageState;
  unique_count: number;
  /**
   * Events in addition to those of `state`; a plain number, because a state for each minute of a month is 4
   * MB.
   */
  uncounted: number;
}

/** Adds up the parts of one query, per cell and group, and returns its result. */
export class UsageTally {
  readonly plan: PlannedQuery;
  readonly #groups = new Map<string, Group>();
  #size = 0;

  constructor(plan: PlannedQuery) {
    this.plan = plan;
  }

  get size(): number {
    return this.#size;
  }

  /** `cell`: index of a part of a cell. */
  add(cell: number, part: UsagePart, external_customer_id: string): void {
    if (part.state.event_count === 0) return;
    if (!counts(this.plan, cell, external_customer_id, part)) return;
    const entry = this.#entry(this.plan.cells[cell]!.whole, groupOf(this.plan, part));
    entry.state = entry.state === EMPTY_STATE ? part.state : mergeStates(entry.state, part.state);
  }

  /**
   * Adds distinct values of a whole cell and group that were counted elsewhere, and the events that `add` has
   * not received.
   */
  addUniques(cell: number, group: readonly string[], uniques: number, events: number): void {
    if (uniques === 0 && events === 0) return;
    const entry = this.#entry(cell, group);
    entry.unique_count += uniques;
    entry.uncounted += events;
  }

  async answer(): Promise<UsageAnswer> {
    const { query } = this.plan;
    const isPlain = query.window === null && query.group_by.length === 0;
    const rows = await this.#rows();
    if (isPlain && rows.length === 0)
      rows.push({ group: [], window_start: null, quantity: '0', event_count: 0 });
    return { key: query.key, rows };
  }

  /** By window, then group. Groups are sorted once, not in each window. */
  async #rows(): Promise<UsageRow[]> {
    const pieces = new Pieces();
    const byCell = new Map<number, Entry[]>();
    const groups = [...this.#groups.values()].sort((a, b) => compareGroups(a.values, b.values));
    for (const group of groups) {
      const carried = carriedOf(group);
      // A group that has only carried usage is included too.
      if (carried !== undefined) this.#entry(this.plan.wholes.length - 1, group.values);
      for (const [cell, entry] of group.cells) {
        if (entry === carried) continue;
        const known = byCell.get(cell);
        if (known === undefined) byCell.set(cell, [entry]);
        else known.push(entry);
        if (pieces.isDone()) await pieces.breathe();
      }
    }
    const rows: UsageRow[] = [];
    for (const cell of [...byCell.keys()].sort((a, b) => a - b)) {
      for (const entry of byCell.get(cell)!) rows.push(this.#row(entry));
      if (pieces.isDone(byCell.get(cell)!.length)) await pieces.breathe();
    }
    return rows;
  }

  #row(entry: Entry): UsageRow {
    const { window_start } = entry.cell;
    const carried = carriedOf(entry.group)?.state;
    return {
      group: entry.group.values,
      window_start: window_start === null ? null : isoText(window_start),
      quantity: this.#quantity(entry, carried),
      event_count: entry.state.event_count + entry.uncounted + (carried?.event_count ?? 0),
    };
  }

  #quantity(entry: Entry, carried: UsageState | undefined): string {
    const { aggregation, multiplier } = this.plan.query;
    if (aggregation === 'COUNT_UNIQUE') return String(entry.unique_count);
    const carry = carried?.sum ?? 0n;
    if (entry.state.event_count === 0) return scaledText(carry);
    return scaledText(quantityOf(aggregation, entry.state, entry.cell, multiplier) + carry);
  }

  #entry(cell: number, values: readonly string[]): Entry {
    const key = values.length === 0 ? '' : JSON.stringify(values);
    let group = this.#groups.get(key);
    if (group === undefined) this.#groups.set(key, (group = { values, cells: new Map() }));
    let entry = group.cells.get(cell);
    if (entry === undefined) {
      entry = {
        group,
        cell: this.plan.wholes[cell]!,
        state: EMPTY_STATE,
        unique_count: 0,
        uncounted: 0,
      };
      group.cells.set(cell, entry);
      this.#size += 1;
    }
    return entry;
  }
}

/** The usage that a group carries from before the period: its first cell, if that cell is a carry. */
function carriedOf({ cells }: Group): Entry | undefined {
  const first = cells.get(0);
  return first?.cell.is_carry === true ? first : undefined;
}

function compareGroups(a: readonly string[], b: readonly string[]): number {
  for (let index = 0; index < a.length; index += 1) {
    if (a[index]! !== b[index]!) return a[index]! < b[index]! ? -1 : 1;
  }
  return 0;
}
