import { freezeWallet as freeze } from '../../api/billing/wallets/freeze-wallet.ts';
import { BillingError } from '../../domain/errors.ts';
import { Misused, type MaintainCommand } from './command.ts';

const command = (trigger: 'freeze' | 'unfreeze', summary: string): MaintainCommand => ({
  name: `${trigger}-wallet`,
  takes: 'WALLET_ID',
  summary,
  plan: (words) => `${trigger}s the wallet ${walletOf(words)}`,
  async run({ runtime: { pool, clock }, words }) {
    const id = walletOf(words);
    try {
      const wallet = await freeze({ pool, clock }, id, trigger);
      if (wallet === null) return { line: `there is no wallet ${id}`, ok: false };
      return { line: `tenant=${wallet.tenant_id} wallet_status=${wallet.wallet_status}`, ok: true };
    } catch (error) {
      if (!(error instanceof BillingError)) throw error;
      return { line: `refused: ${error.message}`, ok: false };
    }
  },
});

function walletOf(words: readonly string[]): string {
  const [id, ...more] = words;
  if (id === undefined || more.length > 0) throw new Misused('takes the id of one wallet');
  return id;
}

export const freezeWallet = command(
  'freeze',
  'stops every debit of the wallet; credits still arrive',
);

export const unfreezeWallet = command('unfreeze', 'makes a frozen wallet usable again');
