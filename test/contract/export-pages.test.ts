import { exportEvents } from '../../api/operations/exports/export-events.ts';
import { createUsageStore } from '../../clickhouse/writing/create-usage-store.ts';
import { createEventReader } from '../../clickhouse/reading/event-reader.ts';
import { ANALYTICS } from '../../clickhouse/query-limits.ts';
import { createTestClickHouse, type TestClickHouse } from '../support/clickhouse.ts';

const SCOPE = { tenant_id: 'tenant_1', environment_id: 'env_1' };
const START = Date.UTC(2026, 0, 1);
const EVENTS = 60;

describe('an export of events with long properties', () => {
  let test_: TestClickHouse;
  beforeAll(async () => {
    test_ = await createTestClickHouse();
    await createUsageStore(test_.clickhouse).appendRawEvents(
      Array.from({ length: EVENTS }, (_, n) => ({
        ...SCOPE,
        event_name: 'call',
        external_customer_id: 'acme',
        customer_id: '',
        timestamp: START + n,
        event_id: `event-${n}`,
        source: '',
        properties: JSON.stringify({ text: 'x'.repeat(n % 3 === 0 ? 10 : 4_000) }),
        ingested_at: START,
        partition: 0,
        position: BigInt(n),
        is_canonical: true,
      })),
    );
  });
  afterAll(() => test_.drop());

  const exported = (resultBytes: number) =>
    exportEvents(
      {
        eventReader: createEventReader(test_.clickhouse, {
          analytics: { ...ANALYTICS, resultBytes },
        }),
        clock: { now: () => START + 86_400_000 } as never,
      },
      SCOPE,
      {
        start_time: new Date(START).toISOString(),
        end_time: new Date(START + 1_000).toISOString(),
        format: 'jsonl',
        limit: 10_000,
      } as never,
    );

  test('more than one answer may contain: read in smaller pages, each event once', async () => {
    const { text, rows, next_cursor } = await exported(40_000);
    const ids = text
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: string }).id);
    expect([rows, next_cursor]).toEqual([EVENTS, null]);
    expect(ids).toEqual(Array.from({ length: EVENTS }, (_, n) => `event-${n}`));
  });

  test('a single event that does not fit is refused', async () => {
    await expect(exported(3_000)).rejects.toMatchObject({ code: 'usage_query_too_large' });
  });
});
