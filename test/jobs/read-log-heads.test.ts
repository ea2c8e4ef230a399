import { packPosition } from '../../domain/metering/position.ts';
import { readLogHeads } from '../../api/read-log-heads.ts';
import { endStop, noteStop } from '../../postgres/tables/stream-stops.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

describe('where the log ends, for finalization', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  test('is not known while a partition is stopped: no invoice is finalized on it', async () => {
    const { pool } = database;
    const log = {
      positions: async () => [{ epoch: 0, partition: 1, first: 0n, next: 7n, committed: null }],
    };
    const heads = { 1: packPosition(0, 7n, 0) };
    expect(await readLogHeads(pool, log, 'stream')).toEqual(heads);
    const at = { epoch: 0, partition: 1 };
    await noteStop(pool, at, 'another_record');
    await expect(readLogHeads(pool, log, 'stream')).rejects.toMatchObject({
      code: 'event_log_stopped',
    });
    await endStop(pool, at);
    expect(await readLogHeads(pool, log, 'stream')).toEqual(heads);
  });
});
