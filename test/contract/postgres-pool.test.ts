import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectPostgres, type Pool } from '../../postgres/client.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startPostgresRelay, type PostgresRelay } from '../support/postgres-relay.ts';

const LANES = 2;
const ROUNDS = 10;
/** Less than the driver waits for a connection. */
const AT_ONCE_MS = 3_000;
const LOST =
  /ECONNREFUSED|ECONNRESET|CONNECTION_(CLOSED|DESTROYED|ENDED)|EPIPE|CONNECT_TIMEOUT|57P01/;
const lost = { code: expect.stringMatching(LOST) };

const circular: Record<string, unknown> = {};
circular['self'] = circular;

describe('the pool of jobs and the stream, when connections are lost', () => {
  let database: TestDatabase;
  let relay: PostgresRelay;
  let pool: Pool;
  beforeAll(async () => {
    database = await createTestDatabase();
    await database.pool`create table probes (value text)`;
    relay = await startPostgresRelay(new URL(database.url));
    pool = connectPostgres({ url: relay.url, applicationName: 'pool', maxConnections: LANES });
  });
  afterAll(async () => {
    await pool.end({ timeout: 1 });
    relay.close();
    await database.drop();
  });

  const connections = async (name: string): Promise<number> =>
    (await database.pool`select 1 from pg_stat_activity where application_name = ${name}`).count;
  const answers = (): Promise<unknown[]> =>
    Promise.all(
      Array.from({ length: 3 * LANES }, async (_, index) => {
        const [row] =
          index % 2 === 0
            ? await pool`select ${index}::int as answer, array['a', 'b'] as names`
            : await pool.begin(
                (tx) => tx`select ${index}::int as answer, array['a', 'b'] as names`,
              );
        expect(row).toEqual({ answer: index, names: ['a', 'b'] });
      }),
    );
  const atOnce = async <T>(work: Promise<T>): Promise<T> => {
    const limit = new AbortController();
    const late = sleep(AT_ONCE_MS, null, { signal: limit.signal }).then(() => {
      throw new Error('no answer at once');
    });
    late.catch(() => {});
    return await Promise.race([work, late]).finally(() => limit.abort());
  };
  const until = async (isReached: () => boolean | Promise<boolean>): Promise<void> => {
    while (!(await isReached())) await sleep(5);
  };

  test('statements that were not yet sent fail with their connection; the next ones are answered at once', async () => {
    await answers();
    for (let round = 0; round < ROUNDS; round += 1) {
      // The reset arrives between the call of the driver and its write, which waits for the end of the turn.
      const unsent = await new Promise<Promise<unknown>[]>((made) => {
        relay.reset();
        const bell = createServer((socket) => socket.destroy());
        bell.listen(0, '127.0.0.1', () => {
          made(Array.from({ length: LANES }, () => pool`select 1`.execute()));
          bell.close();
        });
      });
      for (const statement of await atOnce(Promise.allSettled(unsent)))
        if (statement.status === 'rejected') expect(statement.reason).toMatchObject(lost);
      await atOnce(answers());
    }
  });

  test('a new connection asks for nothing before its first statement', async () => {
    const sent: string[] = [];
    const target = new URL(database.url);
    const server = await startPostgresRelay(target, (bytes) => sent.push(bytes.toString('latin1')));
    const fresh = connectPostgres({ url: server.url, applicationName: 'fresh', maxConnections: 1 });
    await expect(fresh`select array['a', 'b'] as names`).resolves.toEqual([{ names: ['a', 'b'] }]);
    expect(sent.join('').match(/select [a-z]+/g)).toEqual(['select array']);
    await fresh.end({ timeout: 1 });
    server.close();
  });

  test('a value that the driver cannot serialize fails its transaction, and no other', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const echo = (value: unknown) =>
        pool.begin(async (tx) => {
          const all = await Promise.all(
            [value, 'other'].map((each) => tx`select ${tx.json(each as never)}::jsonb as value`),
          );
          return all.map(([row]) => row!['value'] as unknown);
        });
      const others = Promise.all([echo(1), echo(2), echo(3)]);
      await expect(atOnce(echo(circular))).rejects.toThrow('circular');
      expect(await atOnce(others)).toEqual([
        [1, 'other'],
        [2, 'other'],
        [3, 'other'],
      ]);
    }
    await atOnce(answers());
  });

  test('nothing of a transaction stays after such a value', async () => {
    const done = pool.begin(async (tx) => {
      await tx`insert into probes values ('lost')`;
      await tx`insert into probes values (${tx.json(circular as never)})`.catch(() => {});
    });
    await expect(done).rejects.toThrow('circular');
    await expect(pool`select value from probes`).resolves.toEqual([]);
  });

  test('reserved connections are available again after an outage', async () => {
    await relay.refuse();
    for (let call = 0; call < 3 * LANES; call += 1) {
      const connection = await pool.reserve();
      await expect(connection`select 1`).rejects.toMatchObject(lost);
      connection.release();
    }
    await relay.accept();
    await atOnce(answers());
    const connection = await pool.reserve();
    await connection`create temporary table own (value text)`;
    await Promise.all(Array.from({ length: LANES }, () => pool`select 1`));
    await expect(connection`select from own`).resolves.toHaveLength(0);
    await expect(pool`select from own`).rejects.toMatchObject({ code: '42P01' });
    connection.release();
  });

  test('a listener receives notices again after its connection was lost, until it stops', async () => {
    const heard: string[] = [];
    let times = 0;
    const { unlisten } = await pool.listen(
      'probes',
      (payload) => heard.push(payload),
      () => (times += 1),
    );
    for (let round = 1; round <= 3; round += 1) {
      expect(times).toBe(round);
      await database.pool`select pg_notify('probes', ${String(round)})`;
      await until(() => heard.length === round);
      if (round === 2) {
        await relay.refuse();
        await relay.accept();
      } else
        await database.pool`
          select pg_terminate_backend(pid) from pg_stat_activity
           where application_name = 'pool' and query like 'listen%'`;
      await atOnce(until(() => times === round + 1));
    }
    expect(heard).toEqual(['1', '2', '3']);
    await unlisten();
    const isListening = async () =>
      (
        await database.pool`select 1 from pg_stat_activity
         where application_name = 'pool' and query like 'listen%'`
      ).count > 0;
    await until(async () => !(await isListening()));
  });

  test('ending a pool ends its listeners and waits for running statements', async () => {
    const ending = connectPostgres({
      url: database.url,
      applicationName: 'ending',
      maxConnections: 1,
    });
    await ending.listen('probes', () => {});
    const begun = [1, 2, 3].map((one) =>
      ending`select ${one}::int as answer, pg_sleep(0.05)`.execute(),
    );
    await ending`select 1`;
    await ending.end();
    expect((await Promise.all(begun)).map(([row]) => row!['answer'] as unknown)).toEqual([1, 2, 3]);
    await until(async () => (await connections('ending')) === 0);
  });

  test('a pool that ends early refuses waiting statements', async () => {
    const ending = connectPostgres({
      url: database.url,
      applicationName: 'early',
      maxConnections: 1,
    });
    const begun = [1, 2].map((one) => ending`select ${one}::int, pg_sleep(30)`.execute());
    await until(async () => (await connections('early')) === 1);
    await Promise.all([
      ending.end({ timeout: 0 }),
      ...begun.map((each) => expect(atOnce(each)).rejects.toMatchObject(lost)),
    ]);
  });

  test('connections that are idle end, and others are opened', async () => {
    const resting = connectPostgres({ url: database.url, applicationName: 'resting', idleMs: 50 });
    for (let round = 0; round < 3; round += 1) {
      await Promise.all([resting`select 1`, resting`select 2`]);
      await until(async () => (await connections('resting')) === 0);
    }
    await resting.end({ timeout: 1 });
  });

  test('connections that end after every statement are replaced without an error', async () => {
    const url = database.url;
    const mortal = connectPostgres({
      url,
      applicationName: 'mortal',
      maxConnections: 2,
      lifeMs: 0,
    });
    const pids = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const [row] = await mortal<{ pid: number }[]>`select pg_backend_pid() as pid`;
        return row!.pid;
      }),
    );
    expect(new Set(pids).size).toBe(20);
    await mortal.end({ timeout: 1 });
  });

  test('a server that closes each new connection is an outage, not a wait without end', async () => {
    const closer = createServer((socket) => socket.destroy());
    closer.listen(0, '127.0.0.1');
    await once(closer, 'listening');
    const url = new URL(database.url);
    url.host = `127.0.0.1:${(closer.address() as AddressInfo).port}`;
    url.searchParams.set('connect_timeout', '1');
    const refused = connectPostgres({ url: url.href, applicationName: 'refused' });
    await expect(atOnce(refused`select 1`)).rejects.toMatchObject(lost);
    await expect(atOnce(refused.begin((tx) => tx`select 1`))).rejects.toMatchObject(lost);
    await refused.end({ timeout: 0 });
    closer.close();
  });
});
