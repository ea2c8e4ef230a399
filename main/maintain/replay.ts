import { requestReplay } from '../../postgres/tables/stream-replays.ts';
import { noWords, type MaintainCommand } from './command.ts';

export const replay: MaintainCommand = {
  name: 'replay',
  takes: '',
  summary: 'makes the stream write the last 24 h again; usage answers 503 until it is done',
  plan(words) {
    noWords(words);
    return 'asks the stream to write the last 24 h again from the log; usage answers 503 until it is done';
  },
  async run({ runtime: { pool } }) {
    const partitions = await requestReplay(pool);
    const line = `partitions=${partitions}: restart the stream; usage is unavailable until it is done`;
    return { line, ok: true };
  },
};
