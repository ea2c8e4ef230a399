import { connectPostgres, type Pool } from '../../postgres/client.ts';
import { scopedPool } from '../../postgres/scoped-pool.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startPostgresRelay, type PostgresRelay } from '../support/postgres-relay.ts';

describe('a transaction ends with its connection', () => {
  let database: TestDatabase;
  let relay: PostgresRelay;
  /** One connection, so that it is the one that is opened again. */
  let pool: Pool;
  beforeAll(async () => {
    database = await createTestDatabase(2);
    await database.pool`create table probes (value text)`;
    relay = await startPostgresRelay(new URL(database.url));
    pool = connectPostgres({ url: relay.url, applicationName: 'lost', maxConnections: 1 });
  });
  afterEach(() => database.pool`delete from probes`);
  afterAll(async () => {
    await pool.end({ timeout: 1 });
    relay.close();
    await database.drop();
  });

  const written = async (): Promise<string[]> =>
    (await database.pool<{ value: string }[]>`select value from probes order by 1`).map(
      ({ value }) => value,
    );
  const terminate = async (pid: number): Promise<void> => {
    await database.pool`select pg_terminate_backend(${pid}, 10000)`;
  };

  test.each(['statement', 'savepoint', 'unsafe', 'rollback', 'commit'] as const)(
    'nothing of it runs on the next connection: %s',
    async (next) => {
      let reached = false;
      const done = pool.begin(async (tx) => {
        const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
        await tx`insert into probes values ('before')`;
        await terminate(row!.pid);
        // Opens the connection again, for another statement.
        await pool`insert into probes values ('other')`;
        reached = true;
        if (next === 'statement') await tx`insert into probes values ('after')`;
        if (next === 'unsafe') await tx.unsafe(`insert into probes values ('after')`);
        if (next === 'savepoint')
          await tx.savepoint((inner) => inner`insert into probes values ('after')`);
        if (next === 'rollback') throw new Error('refused');
        return 'done';
      });
      await expect(done).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
      while (!reached) await pool`select 1`;
      await expect(pool`select 1 as one`).resolves.toEqual([{ one: 1 }]);
      await expect(written()).resolves.toEqual(['other']);
    },
  );

  test('a connection that is reset in a statement answers again, for every later query', async () => {
    for (let round = 0; round < 3; round += 1) {
      const done = pool.begin(async (tx) => {
        await tx`insert into probes values ('before')`;
        const waiting = tx`select pg_sleep(30)`.execute();
        setImmediate(() => relay.reset());
        await waiting;
      });
      await expect(done).rejects.toMatchObject({
        code: expect.stringMatching(/CONNECTION_CLOSED|ECONNRESET/),
      });
      for (let query = 1; query <= 3; query += 1)
        await expect(pool`select ${query}::int as answer`).resolves.toEqual([{ answer: query }]);
    }
    await expect(written()).resolves.toEqual([]);
  });

  test('a statement of a session sends no commit over a lost connection', async () => {
    const session = scopedPool(pool, {
      scope: { tenant_id: 'tenant_a', environment_id: 'env_a' },
      actor: { kind: 'system' },
    });
    const lost = session`select pg_sleep(30)`.execute();
    const resetWhileItSleeps = async (): Promise<void> => {
      const sleeps = async () => {
        const [row] = await database.pool<{ found: boolean }[]>`
          select exists (select from pg_stat_activity
                          where wait_event = 'PgSleep' and datname = current_database()) as found`;
        return row!.found;
      };
      while (!(await sleeps())) continue;
      relay.reset();
    };
    await Promise.all([
      resetWhileItSleeps(),
      expect(lost).rejects.toMatchObject({
        code: expect.stringMatching(/CONNECTION_CLOSED|ECONNRESET/),
      }),
    ]);
    await expect(pool`select 1 as one`).resolves.toEqual([{ one: 1 }]);
  });

  test('after an outage every connection is used again', async () => {
    const session = scopedPool(pool, {
      scope: { tenant_id: 'tenant_a', environment_id: 'env_a' },
      actor: { kind: 'system' },
    });
    await relay.refuse();
    for (let query = 0; query < 3; query += 1)
      await expect(session`select 1 as one`).rejects.toMatchObject({
        code: expect.stringMatching(/ECONNREFUSED|ECONNRESET|CONNECTION_CLOSED/),
      });
    await relay.accept();
    for (let query = 0; query < 3; query += 1)
      await expect(session`select 1 as one`).resolves.toEqual([{ one: 1 }]);
  });

  test('a statement that loses its connection fails, and the next ones are answered', async () => {
    const session = scopedPool(pool, { scope: null, actor: { kind: 'system' } });
    for (let round = 0; round < 3; round += 1) {
      const others = [1, 2, 3].map((one) => session`select ${one}::int as answer`.execute());
      await expect(session`select pg_terminate_backend(pg_backend_pid())`).rejects.toMatchObject({
        code: 'CONNECTION_CLOSED',
      });
      await expect(Promise.all(others)).resolves.toHaveLength(3);
      await expect(session`select ${round}::int as answer`).resolves.toEqual([{ answer: round }]);
    }
  });
});
