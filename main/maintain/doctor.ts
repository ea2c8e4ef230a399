import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Check } from '../../api/operations/doctor/check.ts';
import { checkStores } from '../../api/operations/doctor/store-checks.ts';
import { checkUsage } from '../../api/operations/doctor/usage-checks.ts';
import { headsToRead } from '../../domain/metering/log-heads.ts';
import { readEnds } from '../../postgres/tables/stream-epoch-ends.ts';
import { STREAM_GROUP } from '../../stream/consumer.ts';
import { noWords, type MaintainCommand } from './command.ts';
import { checkDisk, checkEventLoops, checkRoles } from './machine-checks.ts';

/** Pause between two reads of the stream's progress: several times the longest wait of a batch. */
const PAUSE_MS = 3_000;

export const doctor: MaintainCommand = {
  name: 'doctor',
  takes: '',
  summary:
    'checks log, stores, jobs and disk; prints the repair of each finding; exit code 1 on any',
  plan(words) {
    noWords(words);
    return 'checks the roles, the log, the stores, the jobs and the disk; changes nothing';
  },
  async run({ runtime, instance, say }) {
    const eventLog = await runtime.eventLog();
    const deps = {
      db: runtime.pool,
      positions: async () =>
        headsToRead(await eventLog.positions(STREAM_GROUP), await readEnds(runtime.pool)),
      pause: () => sleep(PAUSE_MS),
    };
    const checks = [
      ...(instance === null ? [] : await checkRoles(instance)),
      ...(await checkUsage(deps, null)),
      ...(await checkStores(runtime.pool, runtime.clickhouse())),
      ...(instance === null ? [] : await checkEventLoops(instance)),
      ...(instance === null ? [] : [checkDisk(resolve(runtime.config.DATA_DIR))]),
    ];
    say(checkTable(checks));
    const red = checks.filter(({ mend }) => mend !== null).length;
    return { line: `checked=${checks.length} red=${red}`, ok: red === 0 };
  },
};

/** Aligned lines; each finding is followed by its remedy. */
export function checkTable(checks: readonly Check[]): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  return checks
    .flatMap(({ name, found, mend }) => [
      `  ${mend === null ? 'ok ' : 'RED'}  ${name.padEnd(width)}  ${found}`,
      ...(mend === null ? [] : [`       ${' '.repeat(width)}  → ${mend}`]),
    ])
    .join('\n');
}
