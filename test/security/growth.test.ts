import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { scanningFunctions } from '../support/scanning-functions.ts';
import { SCANNERS } from './growth/scanners.ts';
import type { StepCounts } from './growth/step-counts.ts';

/** Functions that read by place what no caller writes, or only a little of it. */
const NO_INPUT: Readonly<Record<string, string>> = {
  'domain/pricing/thousands.ts withThousands': 'digits of a computed amount',
  'domain/pricing/line-commitment.ts usageByWindow': 'windows of a period',
  'domain/pricing/rate-usage-line.ts servedUnits': 'windows of a period',
  'domain/time/zone.ts changeWithin': 'changes of a time zone',
  'domain/time/zone.ts lastAtOrBefore': 'changes of a time zone',
  'ingest/event-batcher.ts parts': 'events of a batch, at most 1,000 of each call',
  'platform/csv/read-csv.ts chunks': 'cuts a file into pieces of 8 KiB',
  'platform/event-log/kafka-read.ts readPartition': 'records of the log',
  'platform/event-log/kafka.ts resize':
    'repeats until the topic has the partitions that were asked for',
  'platform/event-log/postgres.ts read': 'records of the log',
};

/**
 * An input that is 64 times as long costs about 64 times as many steps (tenancy S15). Patterns are
 * checked by `patterns.test.ts`.
 */
describe('scanners read input of any length in linear time', () => {
  let counts: StepCounts;
  beforeAll(async () => {
    counts = await countedAlone();
  });

  test.each(SCANNERS.map(([what]) => what))('%s', (what) => {
    const { short, long } = counts.steps[what]!;
    expect(short).toBeGreaterThan(0);
    // Between 64 (linear) and 4,096 (a square).
    expect(long / short).toBeLessThan(Math.sqrt(64 * 4_096));
  });

  test('every function that reads an input by place is run by a row above, or is listed with a reason', () => {
    const run = new Set(counts.functions);
    const scanning = scanningFunctions(['domain', 'ingest', 'platform', 'schemas']);
    expect(scanning.length).toBeGreaterThan(20);
    expect(scanning.filter((name) => !run.has(name)).sort()).toEqual(Object.keys(NO_INPUT).sort());
  });
});

/** What `growth/step-counts.ts` prints. */
async function countedAlone(): Promise<StepCounts> {
  const program = fileURLToPath(new URL('./growth/step-counts.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--import',
    './scripts/typescript.js',
    program,
  ]);
  return JSON.parse(stdout) as StepCounts;
}
