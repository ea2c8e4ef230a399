import { createUsageStore } from '../../clickhouse/writing/create-usage-store.ts';
import { verifyBuckets as verify } from '../../stream/verify-buckets.ts';
import { noWords, type MaintainCommand } from './command.ts';

export const verifyBuckets: MaintainCommand = {
  name: 'verify-buckets',
  takes: '',
  summary: 'computes every usable bucket again and prints differences; exit code 1 on any',
  plan(words) {
    noWords(words);
    return 'computes every usable bucket again from its rows; changes nothing';
  },
  async run({ runtime: { pool, clickhouse }, say }) {
    const store = createUsageStore(clickhouse());
    const { checked, differences } = await verify({
      pool,
      store,
      onProgress: (done) => say(`${done} buckets checked`),
    });
    for (const difference of differences) say(JSON.stringify(difference));
    const line = `checked=${checked} differences=${differences.length}`;
    return { line, ok: differences.length === 0 };
  },
};
