import type { ClickHouse } from '../client.ts';
import { LOOK_UP } from '../query-limits.ts';

/** The partition of a table with the most parts, and the number at which the server slows down inserts. */
export interface PartitionParts {
  readonly table: string;
  readonly parts: number;
  /** The server's setting `parts_to_delay_insert`. */
  readonly delayed_at: number;
}

/** The partition with the most active parts; null if no table has any. */
export async function readMostParts(clickhouse: ClickHouse): Promise<PartitionParts | null> {
  const [row] = await clickhouse.rows<readonly [string, string, string]>(
    {
      sql: `
        select table, toString(count()) as parts,
               (select value from system.merge_tree_settings where name = 'parts_to_delay_insert')
          from system.parts
         where active and database = currentDatabase()
         group by table, partition
         order by count() desc
         limit 1`,
      params: {},
    },
    { limits: LOOK_UP },
  );
  if (row === undefined) return null;
  const [table, parts, delayed_at] = row;
  return { table, parts: Number(parts), delayed_at: Number(delayed_at) };
}
