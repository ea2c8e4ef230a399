import type { ClickHouse, ClickHouseQuery } from '../client.ts';
import { ERASED_PROPERTIES } from '../rows.ts';

/** The customer whose events lose their properties. */
export interface EventErasure {
  /** Id of the erasure; identifies a mutation that is already running. */
  readonly id: string;
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly external_customer_id: string;
  /** Events accepted up to here, milliseconds since 1970. */
  readonly until: number;
}

export interface EventEraser {
  /** Number of copies of the customer that still have properties, including rejected ones. */
  count(erasure: EventErasure): Promise<number>;
  /**
   * Overwrites the properties in place: an insert of erased copies would leave the old ones on disk until a
   * merge. Ids, times, rejections, voids and metered usage stay, so that every invoice can be reproduced.
   * Waits for the end; on a timeout the mutation continues and the next call waits for it.
   */
  erase(erasure: EventErasure): Promise<void>;
}

/** A mutation rewrites one column, only in the parts that hold the customer's rows. */
export function createEventEraser(clickhouse: ClickHouse): EventEraser {
  return {
    async count(erasure) {
      const sql = TABLES.map(
        ({ table, column, kept }) =>
          `select count() as n from ${table} where ${OF_CUSTOMER} and ${column} not in (${kept})`,
      ).join(' union all ');
      const [row] = await clickhouse.rows<[string]>({
        sql: `select sum(n) from (${sql})`,
        params: paramsOf(erasure),
      });
      return Number(row![0]);
    },
    async erase(erasure) {
      for (const mutation of TABLES) {
        if (await isUnderWay(clickhouse, mutation.table, erasure.id)) continue;
        await clickhouse.command(mutationOf(mutation, erasure));
      }
    },
  };
}

const OF_CUSTOMER = `tenant_id = {tenant_id:String} and environment_id = {environment_id:String}
  and external_customer_id = {external_customer_id:String}
  and ingested_at <= fromUnixTimestamp64Milli({until:Int64}, 'UTC')`;

const TABLES = [
  {
    table: 'events_raw_v1',
    column: 'properties',
    erased: `'${ERASED_PROPERTIES}'`,
    kept: `'', '{}', '${ERASED_PROPERTIES}'`,
  },
  { table: 'events_rejected_v1', column: 'raw', erased: `''`, kept: `''` },
] as const;

/** The command contains the erasure's id, which identifies the mutation in `system.mutations`. */
function mutationOf(
  { table, column, erased, kept }: (typeof TABLES)[number],
  erasure: EventErasure,
): ClickHouseQuery {
  return {
    sql: `alter table ${table} update ${column} = ${erased}
           where ${OF_CUSTOMER} and ${column} not in (${kept}) and {erasure_id:String} != ''
        settings mutations_sync = 2`,
    params: { ...paramsOf(erasure), erasure_id: erasure.id },
  };
}

async function isUnderWay(clickhouse: ClickHouse, table: string, id: string): Promise<boolean> {
  const [row] = await clickhouse.rows<[string]>({
    sql: `select count() from system.mutations
           where database = currentDatabase() and table = {table:String} and not is_done
             and not is_killed and position(command, {id:String}) > 0`,
    params: { table, id },
  });
  return row![0] !== '0';
}

const paramsOf = ({
  tenant_id,
  environment_id,
  external_customer_id,
  until,
}: EventErasure): Record<string, unknown> => ({
  tenant_id,
  environment_id,
  external_customer_id,
  until,
});
