import type { ClickHouse } from '../client.ts';

/** Reasons for setting aside a whole record or event, instead of one meter version. */
const SET_ASIDE = `meter_version_id = '' and reason in ('undecodable_record', 'malformed_event')`;
const PER_PAGE = 500;

/** Log bytes that could not be read, or events that could not be stored. */
export interface SetAside {
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly event_id: string;
  readonly partition: number;
  readonly position: bigint;
  readonly reason: 'undecodable_record' | 'malformed_event';
  readonly message: string;
  /** A record in base64, an event as JSON. */
  readonly raw: string;
}

export interface SetAsideCount {
  /** Empty: the tenant of an unreadable record is unknown. */
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly reason: string;
  readonly count: number;
}

export interface SetAsideStore {
  counts(): Promise<SetAsideCount[]>;
  /** All of them by position, a page at a time. */
  pages(): AsyncIterable<SetAside[]>;
  remove(rows: readonly SetAside[]): Promise<void>;
}

export function createSetAsideStore(clickhouse: ClickHouse): SetAsideStore {
  return {
    async counts() {
      const rows = await clickhouse.rows<[string, string, string, string]>({
        sql: `select tenant_id, environment_id, reason, count()
                from events_rejected_v1 final
               where ${SET_ASIDE}
               group by tenant_id, environment_id, reason
               order by tenant_id, environment_id, reason`,
        params: {},
      });
      return rows.map(([tenant_id, environment_id, reason, count]) => ({
        tenant_id,
        environment_id,
        reason,
        count: Number(count),
      }));
    },
    async *pages() {
      for (let after: [position: string, partition: number] = ['0', -1]; ;) {
        const rows = await clickhouse.rows<Cells>({
          sql: `select tenant_id, environment_id, event_id, partition, position, reason, message, raw
                  from events_rejected_v1 final
                 where ${SET_ASIDE}
                   and (position, toInt32(partition)) > ({after_position:UInt64}, {after_partition:Int32})
                 order by position, partition
                 limit ${PER_PAGE}`,
          params: { after_position: after[0], after_partition: after[1] },
        });
        if (rows.length > 0) yield rows.map(setAside);
        if (rows.length < PER_PAGE) return;
        after = [rows.at(-1)![4], rows.at(-1)![3]];
      }
    },
    async remove(rows) {
      await clickhouse.command({
        sql: `alter table events_rejected_v1 delete
               where ${SET_ASIDE}
                 and (partition, position) in arrayZip({partitions:Array(UInt16)}, {positions:Array(UInt64)})
            settings mutations_sync = 2`,
        params: {
          partitions: rows.map(({ partition }) => partition),
          positions: rows.map(({ position }) => position),
        },
      });
    },
  };
}

type Cells = [
  tenantId: string,
  environmentId: string,
  eventId: string,
  partition: number,
  position: string,
  reason: SetAside['reason'],
  message: string,
  raw: string,
];

const setAside = (cells: Cells): SetAside => ({
  tenant_id: cells[0],
  environment_id: cells[1],
  event_id: cells[2],
  partition: cells[3],
  position: BigInt(cells[4]),
  reason: cells[5],
  message: cells[6],
  raw: cells[7],
});
