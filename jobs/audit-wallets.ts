import type { BillingDeps } from '../api/deps.ts';
import { auditWallets as audit } from '../api/billing/credits/audit-wallets.ts';
import type { Job } from './job.ts';

/** Compares every wallet with its ledger each night; a difference is logged as an error (money 2.4.4). */
export const auditWallets: Job<BillingDeps> = {
  name: 'audit-wallets',
  cron: '30 2 * * *',
  async run(deps) {
    const { checked, faulty } = await audit(deps.pool);
    for (const fault of faulty)
      deps.log.error({ ...fault }, 'the balance of a wallet differs from its transactions');
    return { checked, faulty: faulty.length };
  },
};
