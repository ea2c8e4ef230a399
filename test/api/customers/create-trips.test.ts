import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { createCustomer } from '../../../api/customers/customers/create-customer.ts';
import type { BillingDeps } from '../../../api/deps.ts';
import { createIds } from '../../../platform/ids.ts';
import { systemClock } from '../../../platform/clock.ts';
import type { Pool } from '../../../postgres/client.ts';
import { connectAsApi, scopedPool } from '../../../postgres/scoped-pool.ts';
import { CreateCustomerBody } from '../../../schemas/customer.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

const scope = { tenant_id: 'tenant_a', environment_id: 'env_a' };
const SYNC = 'S'.charCodeAt(0);

/** A relay to Postgres that can keep its answers back, and counts what is sent: a `Sync` ends each statement. */
class HoldingRelay {
  readonly server: Server;
  #held: Buffer[] | null = null;
  #sent = Buffer.alloc(0);
  #statements = 0;
  #client: Socket | null = null;
  #onStatement: () => void = () => {};

  constructor(target: URL) {
    this.server = createServer((client) => {
      const upstream = connect(Number(target.port), target.hostname);
      this.#client = client;
      client.on('data', (bytes) => {
        if (this.#held !== null) this.#count(bytes);
        upstream.write(bytes);
      });
      upstream.on('data', (bytes) => {
        if (this.#held === null) client.write(bytes);
        else this.#held.push(bytes);
      });
      for (const [one, other] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        one.on('error', () => other.destroy());
        one.on('close', () => other.destroy());
      }
    });
  }

  /** From a moment when nothing is on its way. */
  hold(): void {
    this.#held = [];
    this.#statements = 0;
  }

  /** Resolves when so many statements were sent without an answer to any of them. */
  async untilSent(statements: number): Promise<void> {
    await new Promise<void>((done) => {
      this.#onStatement = () => void (this.#statements >= statements && done());
      this.#onStatement();
    });
  }

  /** Lets the answers through, and answers how many statements there were. */
  release(): number {
    for (const bytes of this.#held ?? []) this.#client!.write(bytes);
    this.#held = null;
    return this.#statements;
  }

  /** Messages of a client that has logged in: a letter, then a length that counts itself. */
  #count(bytes: Buffer): void {
    this.#sent = Buffer.concat([this.#sent, bytes]);
    while (this.#sent.length >= 5 && this.#sent.length > this.#sent.readUInt32BE(1)) {
      if (this.#sent[0] === SYNC) this.#statements += 1;
      this.#sent = this.#sent.subarray(this.#sent.readUInt32BE(1) + 1);
    }
    this.#onStatement();
  }
}

/** What a create costs above its work is trips to the server; there is one. */
describe('the create of a customer, on its way to Postgres', () => {
  let database: TestDatabase;
  let relay: HoldingRelay;
  let apiPool: Pool;
  let pool: Pool;
  beforeAll(async () => {
    database = await createTestDatabase();
    await database.pool`insert into tenants (id, name) values ('tenant_a', 'A')`;
    await database.pool`insert into environments (id, tenant_id, name, type) values ('env_a', 'tenant_a', 'A', 'development')`;
    const url = new URL(database.url);
    relay = new HoldingRelay(new URL(url));
    relay.server.listen(0, '127.0.0.1');
    await once(relay.server, 'listening');
    url.hostname = '127.0.0.1';
    url.port = String((relay.server.address() as { port: number }).port);
    apiPool = (await connectAsApi({
      url: url.href,
      applicationName: 'test',
      maxConnections: 1,
    }))!;
    pool = scopedPool(apiPool, { scope, actor: { kind: 'user', user_id: 'user_a' } });
  });
  afterAll(async () => {
    relay.release();
    await apiPool.end({ timeout: 1 });
    relay.server.close();
    await database.drop();
  });

  const deps = { ids: createIds(systemClock), clock: systemClock } as BillingDeps;
  const create = (external_id: string) =>
    createCustomer(
      pool,
      deps,
      { scope, user_id: 'user_a' },
      CreateCustomerBody.parse({ external_id, name: 'Acme', metadata: { plan: 'gold' } }),
    );
  const written = async () => {
    const [row] = await database.pool<{ customers: number; told: number; audited: number }[]>`
      select (select count(*)::int from customers) as customers,
             (select count(*)::int from outbox where event_type = 'customer.created') as told,
             (select count(*)::int from audit_log where entity_type = 'customer') as audited`;
    return row!;
  };

  test('begin, scope, row with its notification, commit: four statements, none waits for another', async () => {
    await create('first'); // The driver prepares each statement on its first use, which is a trip more.
    relay.hold();
    const creating = create('second');
    await relay.untilSent(4);
    expect(relay.release()).toBe(4);
    const made = await creating;
    expect(await written()).toEqual({ customers: 2, told: 2, audited: 2 });
    const [told] = await database.pool<{ entity_id: string; payload: object }[]>`
      select entity_id, payload from outbox where entity_id = ${made.id}`;
    expect(told).toEqual({ entity_id: made.id, payload: { customer: made } });
  });

  test('a create that is refused leaves neither row, notification nor entry, and a clean connection', async () => {
    await create('taken');
    const before = await written();
    await expect(create('taken')).rejects.toMatchObject({ kind: 'conflict' });
    expect(await written()).toEqual(before);
    await create('free');
    expect((await written()).told).toBe(before.told + 1);
  });
});
