import { auditWallets as audit } from '../../api/billing/credits/audit-wallets.ts';
import { noWords, type MaintainCommand } from './command.ts';

export const auditWallets: MaintainCommand = {
  name: 'audit-wallets',
  takes: '',
  summary:
    'compares the balance of every wallet with its transactions; exit code 1 on any difference',
  plan(words) {
    noWords(words);
    return 'adds up the blocks and transactions of every wallet; changes nothing';
  },
  async run({ runtime: { pool }, say }) {
    const { checked, faulty } = await audit(pool);
    for (const fault of faulty) say(JSON.stringify(fault));
    return { line: `checked=${checked} faulty=${faulty.length}`, ok: faulty.length === 0 };
  },
};
