import { Misused, type MaintainCommand } from './command.ts';

const PARTITIONS_MAX = 1024;

function partitionsOf(words: readonly string[]): number {
  const partitions = Number(words[0]);
  if (words.length !== 1 || !Number.isInteger(partitions) || partitions < 1)
    throw new Misused(`takes the new number of partitions, 1 to ${PARTITIONS_MAX}`);
  if (partitions > PARTITIONS_MAX)
    throw new Misused(`takes at most ${PARTITIONS_MAX} partitions, but got ${partitions}`);
  return partitions;
}

export const resizeLog: MaintainCommand = {
  name: 'resize-log',
  takes: 'N',
  summary: 'closes the epoch of the log and opens the next with N partitions',
  plan(words) {
    return `closes the epoch of the log and opens the next with ${partitionsOf(words)} partitions`;
  },
  async run({ runtime, words }) {
    const partitions = partitionsOf(words);
    const log = await runtime.eventLog();
    const epoch = await log.resize(partitions);
    const line = `epoch=${epoch} partitions=${partitions}: the stream reads the new epoch when the old one is drained`;
    return { line, ok: true };
  },
};
