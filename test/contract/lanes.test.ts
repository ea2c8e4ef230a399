import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from '../../postgres/client.ts';
import { connectAsApi, scopedPool } from '../../postgres/scoped-pool.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { WAIT_MS } from '../support/patience.ts';
import { startPostgresRelay, type PostgresRelay } from '../support/postgres-relay.ts';

const LANES = 3;
/** Connections that end while statements run. */
const ENDED = 20;
const LOST =
  /ECONNREFUSED|ECONNRESET|CONNECTION_(CLOSED|DESTROYED|ENDED)|EPIPE|CONNECT_TIMEOUT|57P01/;

describe('a pool of lanes', () => {
  let database: TestDatabase;
  let relay: PostgresRelay;
  let lanes: Pool;
  beforeAll(async () => {
    database = await createTestDatabase();
    for (const id of ['tenant_a', 'tenant_b'])
      await database.pool`insert into tenants (id, name) values (${id}, 'T')`;
    relay = await startPostgresRelay(new URL(database.apiUrl));
    lanes = (await connectAsApi({
      url: relay.url,
      applicationName: 'lanes',
      maxConnections: LANES,
    }))!;
  });
  afterAll(async () => {
    await lanes.end({ timeout: 1 });
    relay.close();
    await database.drop();
  });

  const inTenant = (tenant_id: string): Pool =>
    scopedPool(lanes, { scope: { tenant_id, environment_id: '' }, actor: { kind: 'system' } });
  const connections = async (): Promise<number> =>
    (await database.pool`select 1 from pg_stat_activity where application_name = 'lanes'`).count;
  /** The tenants that a statement of tenant A sees, asked often enough to use each lane. */
  const expectAnswers = async (): Promise<void> => {
    const asked = Array.from(
      { length: 4 * LANES },
      () => inTenant('tenant_a')<{ id: string }[]>`select id from tenants`,
    );
    for (const rows of await Promise.all(asked)) expect(rows).toEqual([{ id: 'tenant_a' }]);
    const sent = Array.from(
      { length: 4 * LANES },
      () =>
        inTenant(
          'tenant_a',
        )`select id, array[id] as ids from tenants where id = any(${['tenant_a']})`,
    );
    for (const rows of await Promise.all(sent))
      expect(rows).toEqual([{ id: 'tenant_a', ids: ['tenant_a'] }]);
  };

  test('opens no more connections than it has lanes', async () => {
    await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const pool = inTenant('tenant_a');
        if (index % 2 === 0) await pool`select pg_sleep(0.01)`;
        else await pool.begin((tx) => tx`select pg_sleep(0.01)`);
      }),
    );
    expect(await connections()).toBe(LANES);
  });

  test('uses every lane again after an outage in which more calls failed than there are lanes', async () => {
    await relay.refuse();
    const calls = Array.from({ length: 5 * LANES }, async (_, index) => {
      const pool = inTenant('tenant_a');
      const called =
        index % 2 === 0 ? pool`select 1 as one` : pool.begin((tx) => tx`select 1 as one`);
      await expect(called).rejects.toMatchObject({ code: expect.stringMatching(LOST) });
    });
    await Promise.all(calls);
    await relay.accept();
    await expectAnswers();
  });

  test('a statement that loses its connection fails; those that wait for a lane are answered', async () => {
    for (let round = 0; round < 3; round += 1) {
      const pool = inTenant('tenant_a');
      const ends = Array.from({ length: LANES }, async () => {
        await expect(pool`select pg_terminate_backend(pg_backend_pid())`).rejects.toMatchObject({
          code: expect.stringMatching(LOST),
        });
      });
      await Promise.all([...ends, expectAnswers()]);
    }
  });

  test('a value that the driver cannot serialize fails its statement and no other', async () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    const pool = inTenant('tenant_a');
    const echo = (value: unknown) => pool`select ${pool.json(value as never)}::jsonb as value`;
    for (let round = 0; round < 2 * LANES; round += 1) {
      const others = Promise.all([echo(1), echo(2), echo(3)]);
      await expect(echo(circular)).rejects.toThrow('circular');
      expect((await others).map(([row]) => row!['value'])).toEqual([1, 2, 3]);
    }
    await expectAnswers();
  });

  test('connections that end at any moment: no statement runs outside its scope, an answered write is there', async () => {
    let ended = 0;
    let isOver = false;
    const ending = (async () => {
      while (!isOver) {
        // Not those that are just being opened.
        const { count } = await database.pool`
          select pg_terminate_backend(pid) from pg_stat_activity
           where application_name = 'lanes' and query like '%tenants%' order by random() limit 1`;
        ended += count;
        await database.pool`select pg_sleep(0.02)`;
      }
    })();
    const answered = new Map<string, number>([
      ['tenant_a', 0],
      ['tenant_b', 0],
    ]);
    const seen = new Set<string>();
    const ask = async (tenant: string, caller: number, call: number): Promise<void> => {
      const pool = inTenant(tenant);
      try {
        if (call % 3 === 0) {
          const { count } =
            await pool`update tenants set metadata = ${pool.json({ caller, call })}`;
          answered.set(tenant, answered.get(tenant)! + count);
        } else {
          const rows = await pool<{ id: string }[]>`select id from tenants where ${call}::int > 0`;
          seen.add(`${tenant} sees ${rows.map(({ id }) => id).join(' ')}`);
        }
      } catch (error) {
        expect(error).toMatchObject({ code: expect.stringMatching(LOST) });
      }
    };
    await Promise.all(
      Array.from({ length: 4 * LANES }, async (_, caller) => {
        for (let call = 1; call <= 20 || ended < ENDED; call += 1)
          await ask(caller % 2 === 0 ? 'tenant_a' : 'tenant_b', caller, call);
      }),
    );
    isOver = true;
    await ending;
    expect([...seen].sort()).toEqual(['tenant_a sees tenant_a', 'tenant_b sees tenant_b']);
    for (const [tenant, count] of answered) {
      const written = await database.pool`
        select 1 from audit_log where tenant_id = ${tenant} and action = 'updated'`;
      expect(count).toBeGreaterThan(0);
      expect(written.count).toBeGreaterThanOrEqual(count);
    }
    await expectAnswers();
  });

  test('a pool that has ended refuses statements and opens no connection', async () => {
    const options = { url: relay.url, applicationName: 'ended', maxConnections: LANES };
    const pool = (await connectAsApi(options))!;
    await pool`select 1`;
    await pool.end({ timeout: 1 });
    const open = () =>
      database.pool`select 1 from pg_stat_activity where application_name = 'ended'`;
    // Postgres lists a connection until its process is gone.
    const until = Date.now() + WAIT_MS;
    while ((await open()).length > 0 && Date.now() < until) await sleep(20);
    for (const late of [pool`select 1`, pool.begin((tx) => tx`select 1`)])
      await expect(late).rejects.toMatchObject({
        code: 'CONNECTION_ENDED',
        message: 'The pool has ended.',
      });
    await expect(open()).resolves.toHaveLength(0);
  });

  test.each(['file', 'notify', 'subscribe', 'largeObject', 'close'] as const)(
    'does not offer %s, which the driver would run beside the lanes',
    (name) => {
      const call = lanes[name as 'notify'];
      expect(() => call('a', 'b')).toThrow(`${name} is not offered`);
    },
  );
});
