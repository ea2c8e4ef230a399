import { createSetAsideStore, type SetAsideStore } from '../../clickhouse/writing/set-aside.ts';
import { retakeSetAside } from '../../stream/retake-set-aside.ts';
import { choiceOf } from './choice.ts';
import type { MaintainCommand, MaintainContext } from './command.ts';

const LISTED_MAX = 100;
const PLANS = {
  list: `counts records and events that were set aside by tenant, and lists the first ${LISTED_MAX}`,
  retake: 'appends what was set aside to the log again, as far as this version can read it',
} as const;
const EXPECTED = 'takes nothing (lists what was set aside) or retake';

/** Records that could not be read and events that could not be stored (docs/operations.md). */
export const setAsideRecords: MaintainCommand = {
  name: 'set-aside-records',
  takes: '[retake]',
  summary: 'lists records and events that were set aside, or takes them in again',
  plan: (words) => PLANS[choiceOf(PLANS, words, EXPECTED)],
  async run(context) {
    const { runtime, words, say } = context;
    const store = createSetAsideStore(runtime.clickhouse());
    if (choiceOf(PLANS, words, EXPECTED) === 'list') return await list(context, store);
    const eventLog = await runtime.eventLog();
    const { taken, left } = await retakeSetAside({ eventLog, setAside: store, say });
    return { line: `taken=${taken} left=${left}`, ok: left === 0 };
  },
};

async function list({ say }: MaintainContext, store: SetAsideStore) {
  const counts = await store.counts();
  for (const { tenant_id, environment_id, reason, count } of counts)
    say(`${tenant_id || 'unknown tenant'} ${environment_id || '-'} ${reason} ${count}`);
  let listed = 0;
  for await (const page of store.pages()) {
    for (const row of page.slice(0, LISTED_MAX - listed))
      say(
        `  ${row.event_id || 'a record'} (partition ${row.partition}, position ${row.position}): ${row.message}`,
      );
    listed += page.length;
    if (listed >= LISTED_MAX) break;
  }
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  return { line: `set_aside=${total}`, ok: total === 0 };
}
