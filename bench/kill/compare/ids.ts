import type { Ledger } from '../ledger.ts';
import type { Tree } from '../tree.ts';
import { clickhouseRows } from './clickhouse-rows.ts';

export interface IdVerdict {
  readonly lost: number;
  readonly double: number;
  readonly examples: readonly string[];
}

/** How often each acknowledged id is counted, read from the rows: once, also if it was taken back later. */
export async function compareIds(tree: Tree, ledger: Ledger): Promise<IdVerdict> {
  const rows = await clickhouseRows(
    tree.clickhouseUrl,
    `select event_id, sum(is_canonical) from events_raw_v1 final where event_name = 'kill.sample' group by event_id`,
  );
  const counted = new Map(rows.map(([id, copies]) => [id!, Number(copies)]));
  const examples: string[] = [];
  let lost = 0;
  let double = 0;
  for (const id of ledger.acknowledged.keys()) {
    const copies = counted.get(id) ?? 0;
    if (copies === 0) lost += 1;
    if (copies > 1) double += 1;
    if (copies !== 1 && examples.length < 5) examples.push(`${id}: counted ${copies} times`);
  }
  return { lost, double, examples };
}
