import { inScope, type Db, type Scope } from '../../../postgres/client.ts';
import type { WalletsAtRisk } from '../../../schemas/dashboard.ts';

/** Balances of the active wallets whose alert is raised, by currency. */
export async function walletsAtRisk(
  db: Db,
  scope: Scope,
): Promise<WalletsAtRisk['currencies'][number][]> {
  return await db<WalletsAtRisk['currencies'][number][]>`
    select currency, sum(balance) as balance, count(*)::int as wallet_count
      from wallets
     where ${inScope(db, scope)} and status = 'published' and wallet_status = 'active'
       and alert_state <> 'ok'
     group by currency
     order by currency`;
}
