import { createUsageStore } from '../../clickhouse/writing/create-usage-store.ts';
import { LOG_FAULT_TEXT } from '../../domain/metering/log-identity.ts';
import { endStop, readStops, type StreamStop } from '../../postgres/tables/stream-stops.ts';
import { requestReplay } from '../../postgres/tables/stream-replays.ts';
import { openNewEpoch } from '../../stream/open-new-epoch.ts';
import { choiceOf } from './choice.ts';
import type { MaintainCommand, MaintainContext } from './command.ts';

const PLANS = {
  list: 'lists the partitions of the event log that are stopped, and why',
  replay: 'compares stopped partitions with the log again, and writes their last 24 h again',
  'new-epoch':
    'closes the epoch of the log and appends what stopped partitions still hold to a new one',
} as const;
const EXPECTED = 'takes nothing (lists stopped partitions), replay or new-epoch';

/** Decides how to continue with partitions whose log is not the one that was read (docs/operations.md). */
export const log: MaintainCommand = {
  name: 'log',
  takes: '[replay|new-epoch]',
  summary: 'lists partitions that are stopped because of their log, or continues with them',
  plan: (words) => PLANS[choiceOf(PLANS, words, EXPECTED)],
  async run(context) {
    const { pool } = context.runtime;
    const stops = await readStops(pool);
    for (const stop of stops) context.say(lineOf(stop));
    if (stops.length === 0) return { line: 'stopped=0', ok: true };
    switch (choiceOf(PLANS, context.words, EXPECTED)) {
      case 'list':
        return { line: `stopped=${stops.length}: continue with replay or new-epoch`, ok: false };
      case 'replay':
        return await replayStopped(context, stops);
      case 'new-epoch': {
        const { runtime, say } = context;
        const store = createUsageStore(runtime.clickhouse());
        const eventLog = await runtime.eventLog();
        const { epoch, events } = await openNewEpoch({ pool, eventLog, store, say });
        return { line: `stopped=0 epoch=${epoch} events=${events}`, ok: true };
      }
    }
  },
};

async function replayStopped(
  { runtime: { pool } }: MaintainContext,
  stops: readonly StreamStop[],
): Promise<{ line: string; ok: boolean }> {
  await requestReplay(pool);
  for (const stop of stops) await endStop(pool, stop);
  const line = `asked=${stops.length}: the stream compares the log again; run \`log\` to see the result`;
  return { line, ok: true };
}

const lineOf = ({ epoch, partition, fault, next_offset, stopped_at }: StreamStop): string =>
  `epoch ${epoch} partition ${partition} since ${stopped_at}: ${LOG_FAULT_TEXT[fault]} (next ${next_offset})`;
