import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventLog } from '../../platform/event-log/event-log.ts';
import { openKafkaEventLog } from '../../platform/event-log/kafka.ts';
import { openPostgresEventLog } from '../../platform/event-log/postgres.ts';
import type { Logger } from '../../platform/log.ts';
import { createLogger } from '../../platform/log.ts';
import { connectPostgres } from '../../postgres/client.ts';
import { startEmbeddedPostgres } from '../../postgres/embedded.ts';
import { migratePostgres } from '../../postgres/migrate.ts';
import { cpuSecondsOfTree, findBroker } from '../processes.ts';
import { BENCH_KEY, BENCH_SCOPE } from './payload.ts';

/** Addresses of the stores of a bench. */
export interface LogAddress {
  readonly postgresUrl: string;
  readonly kafka: { readonly brokers: string[]; readonly topic: string } | null;
}

export interface LogStore {
  readonly name: 'embedded' | 'kafka';
  readonly address: LogAddress;
  /** CPU seconds of the store so far; null if it runs on another machine. */
  cpuSeconds(): number | null;
  close(): Promise<void>;
}

/** Always the embedded log; also Kafka if KAFKA_BROKERS is set. */
export function logStores(): (() => Promise<LogStore>)[] {
  const brokers = process.env['KAFKA_BROKERS'];
  const kafka =
    brokers === undefined || brokers === '' ? [] : [() => kafkaStore(brokers.split(','))];
  return [() => postgresStore(null), ...kafka];
}

export function openLog({ postgresUrl, kafka }: LogAddress, logger?: Logger): Promise<EventLog> {
  const log = logger ?? createLogger('warn', 'bench');
  return kafka === null
    ? openPostgresEventLog({ url: postgresUrl, logger: log })
    : openKafkaEventLog({
        ...kafka,
        replicationFactor: kafka.brokers.length >= 3 ? 3 : 1,
        logger: log,
      });
}

async function kafkaStore(brokers: string[]): Promise<LogStore> {
  const topic = `bench-${randomBytes(4).toString('hex')}`;
  const pids = brokers.map((broker) => findBroker(Number(broker.split(':')[1])));
  // Keys and tenants are in Postgres also with Kafka.
  return {
    ...(await postgresStore({ brokers, topic })),
    name: 'kafka',
    cpuSeconds: () =>
      pids.some((pid) => pid === null)
        ? null
        : pids.reduce((sum: number, pid) => sum + cpuSecondsOfTree(pid!), 0),
  };
}

/** A separate server, configured as the product starts it: every commit reaches the disk. */
async function postgresStore(kafka: LogAddress['kafka']): Promise<LogStore> {
  const directory = mkdtempSync(join(tmpdir(), 'meterline-bench-'));
  const server = await startEmbeddedPostgres({ directory: join(directory, 'postgres') });
  const pool = connectPostgres({ url: server.url, applicationName: 'bench', maxConnections: 2 });
  await migratePostgres(pool);
  const { tenant_id, environment_id } = BENCH_SCOPE;
  await pool`insert into tenants (id, name) values (${tenant_id}, 'Bench')`;
  await pool`
    insert into environments (id, tenant_id, name, type)
    values (${environment_id}, ${tenant_id}, 'Bench', 'production')`;
  await pool`insert into api_keys ${pool({
    id: 'secret_bench',
    ...BENCH_SCOPE,
    name: 'bench',
    roles: ['super_admin'],
    key_hash: createHash('sha256').update(BENCH_KEY).digest(),
    display_id: 'bench',
  })}`;
  await pool.end();
  return {
    name: 'embedded',
    address: { postgresUrl: server.url, kafka },
    cpuSeconds: () => cpuSecondsOfTree(server.pid),
    async close() {
      await server.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
