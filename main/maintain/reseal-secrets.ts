import { resealSecrets as reseal } from '../../api/tenancy/connections/secrets.ts';
import { createSecretBox } from '../../platform/secret-box.ts';
import { noWords, type MaintainCommand } from './command.ts';

export const resealSecrets: MaintainCommand = {
  name: 'reseal-secrets',
  takes: '',
  summary: 'encrypts credentials of connections again with the first key of ENCRYPTION_KEY',
  plan(words) {
    noWords(words);
    return 'decrypts every credential and encrypts it with the first key of ENCRYPTION_KEY';
  },
  async run({ runtime: { config, pool }, say }) {
    const { resealed, unreadable } = await reseal(
      pool,
      createSecretBox(config.ENCRYPTION_KEY ?? []),
    );
    for (const id of unreadable) say(`no key of ENCRYPTION_KEY decrypts ${id}`);
    const line = `resealed=${resealed} unreadable=${unreadable.length}`;
    return { line, ok: unreadable.length === 0 };
  },
};
