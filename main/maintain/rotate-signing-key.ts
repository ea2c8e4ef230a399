import { rotateSigningKey as rotate } from '../../platform/identity/signing-keys.ts';
import { noWords, type MaintainCommand } from './command.ts';

export const rotateSigningKey: MaintainCommand = {
  name: 'rotate-signing-key',
  takes: '',
  summary: 'makes a new key that signs sessions; open sessions continue',
  plan(words) {
    noWords(words);
    return 'makes a new key that signs sessions; the previous key ends in 20 minutes';
  },
  async run({ runtime: { pool, clock } }) {
    const id = await rotate(pool, clock);
    const line = `key=${id}: open sessions continue; the previous key ends in 20 minutes`;
    return { line, ok: true };
  },
};
