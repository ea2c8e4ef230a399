import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freePort } from '../platform/free-port.ts';
import { compare, withSales, type Verdict } from './kill/compare/compare.ts';
import { createMeters } from './kill/compare/meters.ts';
import { FAULT_NAMES, makeFaults, possibleFaults } from './kill/faults/all-faults.ts';
import { startKafka } from './kill/faults/brokers.ts';
import { clockEnvironment, faketimeLibrary } from './kill/faults/clock.ts';
import { dealFaults } from './kill/faults/deck.ts';
import { mountSmallDisk } from './kill/faults/disk.ts';
import { Tally } from './kill/faults/tally.ts';
import { Ledger } from './kill/ledger.ts';
import { checkPlants, plantDamage } from './kill/plants.ts';
import { Stages } from './kill/stages.ts';
import { Tree } from './kill/tree.ts';
import { startWork } from './kill/work/all-work.ts';
import { startLoad } from './kill/work/events.ts';
import { seededRandom } from './random.ts';

/**
 * `npm run kill -- --kills N --faults LIST --profile embedded|kafka`: the whole product under faults while events
 * with 10% duplicates arrive and users work (`kill/work/`). Waits until everything has drained, then compares
 * everything that reads usage (`kill/compare/`) with the harness's own record of acknowledged events. Ends with
 * one line; exit code 1 on any difference.
 *
 * `--faults` names kinds of `kill/faults/`; the ones that this machine cannot make are skipped with the reason.
 * `--kills` counts faults of all kinds. `--work` names kinds of work besides the events.
 * `--plant` damages the stored usage after a run without differences (`kill/plants.ts`) and compares again: the run
 * must then end with exit code 1.
 */
const { values: options } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    faults: { type: 'string', default: 'kill,pause,supervisor,network' },
    work: { type: 'string', default: 'voids,edits,imports,resizes,replays' },
    profile: { type: 'string', default: 'embedded' },
    seed: { type: 'string', default: String(process.pid) },
    rate: { type: 'string', default: '4000' },
    brokers: { type: 'string', default: '1' },
    /** Starts and stops brokers when KAFKA_BROKERS is unset. */
    'kafka-tool': { type: 'string', default: '../shared/tools/kafka' },
    failpoints: { type: 'string', default: '*:0.002' },
    plant: { type: 'string', default: '' },
    verbose: { type: 'boolean', default: false },
  },
});
const kills = Number(options.kills);
const random = seededRandom(Number(options.seed));
/** Deadline for counting all events; a busy machine needs time to process the backlog. */
const DRAIN_SECONDS_MAX = 900;
const WAITS_SAID_EVERY_MS = 30_000;
const startMs = Date.UTC(2026, 5, 1);
const startedAt = performance.now();
const seconds = (): string => ((performance.now() - startedAt) / 1000).toFixed(0);
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const listOf = (text: string): string[] => text.split(',').filter((name) => name !== '');

const plants = listOf(options.plant);
checkPlants(plants);
say(`kill: ${kills} faults, profile ${options.profile}, seed ${options.seed}`);
const chosen = possibleFaults(options.faults === 'all' ? FAULT_NAMES : listOf(options.faults), say);
/** Done at the end of this process, also after an error or an interruption; the last one first. */
const cleanUps: (() => void)[] = [];
process.once('exit', () => {
  for (const cleanUp of cleanUps.reverse())
    try {
      cleanUp();
    } catch (error) {
      say(`not cleaned up: ${(error as Error).message}`);
    }
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const directory = mkdtempSync(join(tmpdir(), 'meterline-kill-'));
cleanUps.push(() => rmSync(directory, { recursive: true, force: true, maxRetries: 20 }));
// The disk is mounted above the data, so that it can be filled beside them.
const diskDirectory = join(directory, 'disk');
mkdirSync(diskDirectory);
const smallDisk = chosen.includes('disk') ? mountSmallDisk(diskDirectory) : null;
if (smallDisk !== null) cleanUps.push(() => smallDisk.unmount());
const dataDirectory = join(diskDirectory, 'data');
const kafka =
  options.profile === 'kafka'
    ? await startKafka({
        tool: options['kafka-tool'],
        brokers: Number(options.brokers),
        faults: chosen,
        directory,
        say,
      })
    : null;
if (kafka !== null) cleanUps.push(() => kafka.stop());
const replication = String(Math.min(3, Number(options.brokers)));
const log: Record<string, string> =
  kafka === null
    ? { KAFKA_BROKERS: '' }
    : {
        KAFKA_BROKERS: kafka.brokers,
        KAFKA_REPLICATION_FACTOR: replication,
        KAFKA_TOPIC: `kill-${process.pid}-${Date.now()}`,
      };
/** The settings of the product, for each of its processes. */
const environment = { ...log, DATA_DIR: dataDirectory };
const clockFile = chosen.includes('clock') ? join(directory, 'clock') : null;
const stages = new Stages();
const tree = await stages.time('start', async () =>
  Tree.start(
    {
      environment: {
        ...environment,
        LOG_LEVEL: options.verbose ? 'info' : 'silent',
        // Fixed, so that the product is found there again after its supervisor was replaced.
        PORT: String(await freePort()),
      },
      roleEnvironment: {
        ...log,
        FAILPOINTS: options.failpoints,
        ...(clockFile === null ? {} : clockEnvironment(faketimeLibrary()!, clockFile)),
      },
    },
    kafka?.proxies ?? {},
    say,
  ),
);

const ledger = new Ledger();
const runId = `s${options.seed}`;
const meterIds = await createMeters(tree);
const load = startLoad({
  tree,
  random,
  ledger,
  runId,
  eventsPerSecond: Number(options.rate),
  senders: 4,
  startMs,
});
const work = await startWork(
  listOf(options.work),
  { tree, random, ledger, runId, environment, startMs },
  kafka?.plan?.resizesUntil,
);
const tally = new Tally(() => tree.pids());
const nextFault = dealFaults(
  makeFaults(chosen, { tree, random, dataDirectory, clockFile }),
  random,
);
while (tally.faults < kills) {
  await stages.time('between', async () => {
    await sleep(random.integer(200, 1_200));
    await progress(ledger.acknowledged.size);
  });
  tally.look();
  const fault = nextFault();
  const startedMs = performance.now();
  const hit = await stages.time('faults', () => fault.strike());
  tally.struck(fault.name, hit, performance.now() - startedMs);
  if (options.verbose || tally.faults % 5 === 0)
    say(
      `${seconds()} s  fault ${tally.faults} (${fault.name}: ${hit.what})  acknowledged ${ledger.acknowledged.size}`,
    );
  if (kafka?.plan?.losesAt(tally.faults / kills) === true)
    await stages.time('resizes', () => work.ended('resizes'));
  kafka?.plan?.step(tally.faults / kills);
  work.reached(tally.faults, kills);
}
kafka?.plan?.step(1);
say(`${seconds()} s  draining`);
const waits = setInterval(() => {
  const open = [`${ledger.unknown.size} events without an answer`, ...work.underWay()];
  say(`${seconds()} s  waits for: ${open.join(', ')}`);
}, WAITS_SAID_EVERY_MS);
await stages.time('sending', () => load.stop());
const done = await stages.time('work', () => work.stop());
clearInterval(waits);
say(`${seconds()} s  comparing`);
const compared = withSales({
  tree,
  random,
  ledger,
  environment,
  totals: ledger.totals(),
  meterIds,
  edits: work.edits,
  period: {
    start: new Date(startMs).toISOString(),
    end: new Date(Date.UTC(2026, 6, 1)).toISOString(),
  },
});
let verdict = await stages.time('comparing', () => compare(compared, DRAIN_SECONDS_MAX, say));
if (plants.length > 0 && differencesOf(verdict) === 0) {
  await plantDamage(plants, { tree, ledger, random }, say);
  verdict = await compare(compared, 0, say);
}
tally.look();
await stages.time('stop', () => tree.stop());

for (const example of verdict.examples) say(`  ${example}`);
for (const [what, count] of Object.entries(tally.counts).sort())
  say(`  ${what.padEnd(34)}${count}`);
say(
  `  seconds of faults: ${Object.entries(tally.seconds)
    .sort()
    .map(([name, spent]) => `${name}=${spent.toFixed(1)}`)
    .join(' ')}`,
);
say(`  ${stages}`);
say(
  `kill profile=${options.profile} seed=${options.seed} faults=${tally.faults} acked=${ledger.acknowledged.size} ` +
    `duplicates=${ledger.duplicates} ${done} seconds=${seconds()} ` +
    `lost=${verdict.lost} double=${verdict.double} agg_diff=${verdict.aggDiff}`,
);
process.exit(differencesOf(verdict) === 0 ? 0 : 1);

function differencesOf({ lost, double, aggDiff }: Verdict): number {
  return lost + double + aggDiff;
}

/** Requires an acknowledged event since the last fault: a fault while the system is down proves little. */
async function progress(before: number): Promise<void> {
  for (let waitedMs = 0; waitedMs < 10_000; waitedMs += 50) {
    if (ledger.acknowledged.size > before + 100) return;
    await sleep(50);
  }
}
