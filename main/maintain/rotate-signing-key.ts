import { rotateSigningKey as rotate } from '../../platform/identity/signing-keys.ts';
import { noWords, type MaintainCommand } from './command.ts';

export const rotateSigningKey: MaintainCommand = {
  name: 'rotate-signing-key',
  takes: '',
  summary: 'makes a new key that signs sessions; sessions go on',
  plan(words) {
    noWords(words);
    return 'makes a new key that signs sessions; the key before it ends in 20 minutes';
  },
  async run({ runtime: { pool, clock } }) {
    const id = await rotate(pool, clock);
    const line = `key=${id}: sessions go on; the key before it ends in 20 minutes`;
    return { line, ok: true };
  },
};
