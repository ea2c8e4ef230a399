import { jobRunAt } from '../support/job-run.ts';
import { tellAuditHeads } from '../../jobs/tell-audit-heads.ts';
import type { Logger } from '../../platform/log.ts';
import {
  chainAuditLog,
  verifyAuditLog,
  type ChainedPage,
} from '../../postgres/audit/audit-chain.ts';
import { headOf, headWord, lostHeads, movedHeads } from '../../postgres/audit/audit-heads.ts';
import type { Pool, Transaction } from '../../postgres/client.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/metering-world.ts';

/** A change of the audit log behind the product's back is found, and the row named (tenancy S25). */
describe('audit chain', () => {
  let database: TestDatabase;
  let admin: Pool;
  beforeEach(async () => {
    database = await createTestDatabase();
    admin = database.pool;
    for (const tenant of ['tenant_a', 'tenant_b'])
      await admin`insert into tenants (id, name) values (${tenant}, 'T')`;
    await write('tenant_a', 5);
    await write('tenant_b', 3);
    await chainAll();
  });
  afterEach(() => database.drop());

  const write = async (tenant_id: string, count: number) => {
    for (let index = 0; index < count; index += 1)
      await admin`update tenants set name = ${`name ${index}`} where id = ${tenant_id}`;
  };
  const chainAll = async () => {
    let rows = 0;
    let after: string | null = null;
    for (;;) {
      const page: ChainedPage = await admin.begin((tx) => chainAuditLog(tx, after));
      rows += page.rows;
      after = page.next;
      if (after === null) return rows;
    }
  };
  /** Transactions in other databases of the server may delay it. */
  const chainAndSettleAll = () =>
    eventually(async () => {
      await chainAll();
      const [progress] = await admin<{ settled: string; last: string }[]>`
        select settled_sequence as settled, (select max(sequence) from audit_log) as last
          from audit_chain_progress`;
      expect(progress!.settled).toBe(progress!.last);
    });
  /** As a superuser, with the triggers disabled. */
  const tamper = (work: (tx: Transaction) => PromiseLike<unknown>) =>
    admin.begin(async (tx) => {
      await tx`set local session_replication_role = replica`;
      await work(tx);
    });
  /** A transaction that has done its work and stays open until the caller commits it. */
  const held = async (work: (tx: Transaction) => PromiseLike<unknown>) => {
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    let ended: Promise<unknown> = Promise.resolve();
    await new Promise<void>((resolve, reject) => {
      ended = admin.begin(async (tx) => {
        await work(tx);
        resolve();
        await gate;
      });
      ended.catch(reject);
    });
    return { commit: async () => (open(), void (await ended)) };
  };
  const rowsOf = (tenant_id: string) => admin<{ id: string; sequence: string }[]>`
    select id, sequence from audit_log where tenant_id = ${tenant_id} order by sequence`;

  test('an unchanged chain verifies, also after further writes', async () => {
    const first = await verifyAuditLog(admin);
    expect(first).toMatchObject({ tenants: 2, rows: 10, broken: [] });
    await write('tenant_b', 2);
    expect(await chainAll()).toBe(2);
    const second = await verifyAuditLog(admin);
    expect(second).toMatchObject({ tenants: 2, rows: 12, broken: [] });
    expect(second.digest).not.toBe(first.digest);
  });

  describe('an end that was cut off', () => {
    const heads = () => movedHeads(admin, '2000-01-01T00:00:00Z');
    const cut = () =>
      tamper(async (tx) => {
        const [last] = await tx<{ sequence: string }[]>`
          delete from audit_chain
           where number = (select max(number) from audit_chain where tenant_id = 'tenant_a')
             and tenant_id = 'tenant_a'
          returning sequence`;
        await tx`delete from audit_log where sequence = ${last!.sequence}`;
      });

    test('a truncated chain verifies; a stored head shows what is missing', async () => {
      const kept = await heads();
      expect(kept.map(({ tenant_id, number }) => [tenant_id, number])).toEqual([
        ['tenant_a', '6'],
        ['tenant_b', '4'],
      ]);
      expect(await lostHeads(admin, kept)).toEqual([]);
      await write('tenant_a', 3);
      await chainAll();
      expect(await lostHeads(admin, kept)).toEqual([]);
      for (let times = 0; times < 4; times += 1) await cut();
      expect((await verifyAuditLog(admin)).broken).toEqual([]);
      const [own] = kept;
      expect(await lostHeads(admin, kept)).toEqual([
        { head: headWord(own!), problem: 'the chain ends before it' },
      ]);
      await write('tenant_a', 1);
      await chainAll();
      expect(await lostHeads(admin, kept)).toEqual([
        { head: headWord(own!), problem: 'the chain was rewritten' },
      ]);
    });

    test('a job logs the heads of the tenants with entries in the last day', async () => {
      const lines: unknown[] = [];
      const log = { info: (fields: unknown) => lines.push(fields) } as unknown as Logger;
      const run = async (at: string) => {
        lines.length = 0;
        return await tellAuditHeads.run({ pool: admin, log }, jobRunAt(at));
      };
      const [now] = await admin<{ at: string }[]>`select now() as at`;
      expect(await run(now!.at)).toEqual({ heads: 2 });
      const words = (await heads()).map(headWord);
      expect(lines).toEqual(words.map((word) => ({ audit_head: word })));
      expect(words.map((word) => headOf(word))).toEqual(await heads());
      expect(await run(new Date(Date.parse(now!.at) + 2 * 86_400_000).toISOString())).toEqual({
        heads: 0,
      });
      for (const word of ['', 'a:1', `a:x:${'0'.repeat(64)}`, `a:1:${'0'.repeat(63)}`])
        expect(headOf(word)).toBeNull();
    });
  });

  test.each([
    [
      'one letter of what was written',
      'update audit_log set after = \'{"name": "name 9"}\' where sequence = $1',
    ],
    ['who wrote it', "update audit_log set user_id = 'user_x' where sequence = $1"],
    [
      'the microsecond',
      "update audit_log set created_at = created_at + interval '1 microsecond' where sequence = $1",
    ],
  ])(
    'a row that differs by %s is named, and the other tenant’s chain holds',
    async (_what, statement) => {
      const rows = await rowsOf('tenant_a');
      const third = rows[2]!;
      await tamper((tx) => tx.unsafe(statement, [third.sequence]));
      const { broken } = await verifyAuditLog(admin);
      expect(broken).toEqual([
      {
        tenant_id: 'tenant_a', number: '3', sequence: third.sequence, id: third.id,
        entity: 'tenant tenant_a', problem: 'the row was changed',
      },
    ]); // prettier-ignore
    },
  );

  test('a row that was deleted is named, with its link or without', async () => {
    const [, second, third] = await rowsOf('tenant_a');
    await tamper((tx) => tx`delete from audit_log where sequence = ${third!.sequence}`);
    const missing = { tenant_id: 'tenant_a', number: '3', sequence: third!.sequence };
    expect((await verifyAuditLog(admin)).broken).toMatchObject([
      { ...missing, problem: 'the row is missing' },
    ]);
    await tamper((tx) => tx`delete from audit_chain where sequence = ${third!.sequence}`);
    expect((await verifyAuditLog(admin)).broken).toMatchObject([
      { tenant_id: 'tenant_a', number: '4', problem: 'the link is missing' },
    ]);
    expect(second).toBeDefined();
  });

  test('a row that was inserted below the chained ones is named', async () => {
    await chainAndSettleAll();
    const [first] = await rowsOf('tenant_b');
    await tamper(async (tx) => {
      await tx`delete from audit_chain where tenant_id = 'tenant_b'`;
    });
    expect((await verifyAuditLog(admin)).broken).toMatchObject([
      { tenant_id: 'tenant_b', number: null, id: first!.id, problem: 'the row is in no chain' },
    ]);
  });

  test('a transaction that commits late is chained late, and none is skipped', async () => {
    const late = await held((tx) => tx`update tenants set name = 'late' where id = 'tenant_a'`);
    await write('tenant_b', 4);
    for (let run = 0; run < 4; run += 1) await chainAll();
    await late.commit();
    expect(await chainAll()).toBe(1);
    await chainAndSettleAll();
    expect((await verifyAuditLog(admin)).broken).toEqual([]);
  });

  test('rows that were chained while the mark was behind are settled later, also without further writes', async () => {
    const other = await held((tx) => tx`select pg_current_xact_id()`);
    for (let round = 0; round < 3; round += 1) {
      await write('tenant_a', 2);
      expect(await chainAll()).toBe(2);
    }
    await other.commit();
    await chainAndSettleAll();
    expect((await verifyAuditLog(admin)).broken).toEqual([]);
  });

  test('links cannot be changed or deleted', async () => {
    await expect(admin`update audit_chain set number = 9`).rejects.toMatchObject({ code: 'ML002' });
    await expect(admin`delete from audit_chain`).rejects.toMatchObject({ code: 'ML002' });
  });
});
