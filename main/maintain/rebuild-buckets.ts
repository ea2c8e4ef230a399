import { requestRebuild } from '../../postgres/tables/seals.ts';
import { noWords, type MaintainCommand } from './command.ts';

export const rebuildBuckets: MaintainCommand = {
  name: 'rebuild-buckets',
  takes: '',
  summary: 'makes the sealer recompute every bucket, even sealed ones',
  plan(words) {
    noWords(words);
    return 'asks the sealer to recompute every bucket; usage stays readable meanwhile';
  },
  async run({ runtime: { pool } }) {
    await requestRebuild(pool);
    return { line: 'asked for: the sealer does it in its next cycles', ok: true };
  },
};
