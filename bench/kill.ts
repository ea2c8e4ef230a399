import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startInstance } from '../main/instance.ts';
import { readConfig } from '../platform/config.ts';
import { createLogger } from '../platform/log.ts';
import { startKafka } from './kill/brokers.ts';
import { compare, createMeters } from './kill/compare.ts';
import { Killer } from './kill/killer.ts';
import { Ledger } from './kill/ledger.ts';
import { startLoad } from './kill/load.ts';
import { seededRandom } from './random.ts';

/**
 * Kills roles and engines at random times and at failpoints while events with 10% duplicates arrive,
 * waits until everything has drained, and compares the counts with the harness's own record of
 * acknowledged events. Ends with one line; exit code 1 on any difference.
 */
const { values: options } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    profile: { type: 'string', default: 'embedded' },
    seed: { type: 'string', default: String(process.pid) },
    rate: { type: 'string', default: '4000' },
    brokers: { type: 'string', default: '1' },
    /** Starts and stops brokers when KAFKA_BROKERS is unset; also kills and restores one of three. */
    'kafka-tool': { type: 'string', default: '../shared/tools/kafka' },
    failpoints: { type: 'string', default: '*:0.002' },
    verbose: { type: 'boolean', default: false },
  },
});
const kills = Number(options.kills);
const random = seededRandom(Number(options.seed));
/** Deadline for counting all events; a busy machine needs time to process the backlog. */
const DRAIN_SECONDS_MAX = 900;
const directory = mkdtempSync(join(tmpdir(), 'meterline-kill-'));
const startedAt = performance.now();
const seconds = (): string => ((performance.now() - startedAt) / 1000).toFixed(0);
const say = (text: string): void => void process.stdout.write(`${text}\n`);

say(`kill: ${kills} kills, profile ${options.profile}, seed ${options.seed}`);
const REPLICATION = String(Math.min(3, Number(options.brokers)));
const kafka =
  options.profile === 'kafka'
    ? startKafka({ tool: options['kafka-tool'], brokers: Number(options.brokers), directory, say })
    : null;
const config = readConfig({
  ...process.env,
  LOG_LEVEL: options.verbose ? 'info' : 'silent',
  DATA_DIR: join(directory, 'data'),
  PORT: '0',
  POSTGRES_URL: undefined,
  CLICKHOUSE_URL: undefined,
  KAFKA_BROKERS: kafka?.brokers,
  KAFKA_REPLICATION_FACTOR: REPLICATION,
});
const instance = await startInstance({
  config,
  log: createLogger(config.LOG_LEVEL, 'kill'),
  env: {
    FAILPOINTS: options.failpoints,
    KAFKA_BROKERS: kafka?.brokers ?? '',
    KAFKA_REPLICATION_FACTOR: REPLICATION,
    KAFKA_TOPIC: `kill-${process.pid}-${Date.now()}`,
  },
});
const target = { ...instance, apiKey: instance.apiKey! };
const ledger = new Ledger();
const startMs = Date.UTC(2026, 5, 1);
const meterIds = await createMeters(target);
const load = startLoad({
  ...target,
  random,
  ledger,
  runId: `s${options.seed}`,
  eventsPerSecond: Number(options.rate),
  senders: 4,
  startMs,
});
const killer = new Killer(() => instance.pids(), random);
const brokerPlan = kafka?.plan ?? null;
while (killer.total < kills) {
  await sleep(random.integer(200, 1_200));
  await progress(ledger.acknowledged.size);
  const name = killer.killOne();
  if (options.verbose || killer.total % 20 === 0)
    say(`${seconds()} s  kill ${killer.total} (${name})  acknowledged ${ledger.acknowledged.size}`);
  brokerPlan?.step(killer.total / kills);
}
brokerPlan?.step(1);
say(`${seconds()} s  draining`);
await load.stop();
const verdict = await compare(
  target,
  meterIds,
  ledger,
  {
    start: new Date(startMs).toISOString(),
    end: new Date(startMs + 28 * 86_400_000).toISOString(),
  },
  DRAIN_SECONDS_MAX,
);
killer.countFailpoints();
await instance.stop();
kafka?.stop();
rmSync(directory, { recursive: true, force: true, maxRetries: 20 });

for (const example of verdict.examples) say(`  ${example}`);
for (const [name, count] of Object.entries(killer.kills).sort())
  say(`  ${name.padEnd(26)}${count}`);
say(
  `kill profile=${options.profile} seed=${options.seed} kills=${killer.total} acked=${ledger.acknowledged.size} ` +
    `duplicates=${ledger.duplicates} seconds=${seconds()} ` +
    `lost=${verdict.lost} double=${verdict.double} agg_diff=${verdict.aggDiff}`,
);
process.exit(verdict.lost + verdict.double + verdict.aggDiff === 0 ? 0 : 1);

/** Requires an acknowledged event since the last kill: a kill while the system is down proves little. */
async function progress(before: number): Promise<void> {
  for (let waitedMs = 0; waitedMs < 10_000; waitedMs += 50) {
    if (ledger.acknowledged.size > before + 100) return;
    await sleep(50);
  }
}
