import { cooldownText } from '../../../domain/wallet/auto-top-up.ts';
import type { AlertLevel } from '../../../domain/wallet/alert-levels.ts';
import type { AlertSettings } from '../../../domain/wallet/balance-alert.ts';
import { creditsAvailableBreakdown } from '../../../domain/wallet/credit-block.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import type { Page, Search } from '../../../schemas/search.ts';
import { Wallet, type WalletTransaction } from '../../../schemas/wallet.ts';
import { picked } from '../../conventions/picked.ts';
import { findCustomers } from '../../customers/customers/repository.ts';
import { findUsersOfTenant } from '../../tenancy/users/repository.ts';
import { findWallets, type WalletRow } from './wallet-repository.ts';
import { findBlocks, type TransactionRow } from './wallet-transaction-repository.ts';

/** The answer for a wallet. */
export function walletAnswer(
  row: WalletRow,
  breakdown: Wallet['credits_available_breakdown'] = null,
): Wallet {
  const { allowed_price_types, alert_settings, auto_topup } = row;
  return picked(Wallet.shape, {
    ...row,
    config: { allowed_price_types },
    alert_settings: alert_settings === null ? null : alertSettingsAnswer(alert_settings),
    auto_topup: auto_topup === null ? null : autoTopUpAnswer(auto_topup),
    real_time_balance: null,
    real_time_credit_balance: null,
    credits_available_breakdown: breakdown,
  });
}

const levelAnswer = (level: AlertLevel | null) =>
  level === null ? null : { ...level, hysteresis: Number(level.hysteresis ?? '0') };

const alertSettingsAnswer = (settings: AlertSettings): NonNullable<Wallet['alert_settings']> => ({
  ...settings,
  critical: levelAnswer(settings.critical),
  warning: levelAnswer(settings.warning),
  info: levelAnswer(settings.info),
});

const autoTopUpAnswer = (
  config: NonNullable<WalletRow['auto_topup']>,
): NonNullable<Wallet['auto_topup']> => ({
  enabled: config.enabled,
  invoicing: config.invoicing,
  threshold: Number(config.threshold),
  amount: Number(config.amount),
  cooldown: config.cooldown_ms === null ? null : cooldownText(config.cooldown_ms),
});

/** The answers for wallets, with free and purchased credits if requested. */
export async function walletAnswers(
  db: Db,
  scope: Scope,
  rows: readonly WalletRow[],
  expand: ReadonlySet<string>,
): Promise<Wallet[]> {
  if (!expand.has('credits_available_breakdown')) return rows.map((row) => walletAnswer(row));
  const blocks = await findBlocks(
    db,
    scope,
    rows.map(({ id }) => id),
  );
  return rows.map((row) =>
    walletAnswer(
      row,
      creditsAvailableBreakdown(blocks.filter(({ wallet_id }) => wallet_id === row.id)),
    ),
  );
}

export const transactionAnswer = (row: TransactionRow): WalletTransaction => ({
  ...row,
  source_type: row.source_type === 'INVOICE' ? row.source_type : null,
  cause_type: row.source_type,
  wallet: null,
  customer: null,
  created_by_user: null,
});

/** A page of transactions, with the records that `expand` names. */
export async function transactionAnswers(
  db: Db,
  scope: Scope,
  page: Page<TransactionRow>,
  { expand }: Pick<Search, 'expand'>,
): Promise<Page<WalletTransaction>> {
  const idsOf = (name: string, read: (row: TransactionRow) => string): string[] =>
    expand.has(name) ? [...new Set(page.items.map(read))] : [];
  const [wallets, customers, users] = await Promise.all([
    findWallets(
      db,
      scope,
      idsOf('wallet', (row) => row.wallet_id),
    ),
    findCustomers(
      db,
      scope,
      idsOf('customer', (row) => row.customer_id),
    ),
    findUsersOfTenant(
      db,
      scope.tenant_id,
      idsOf('created_by_user', (row) => row.created_by),
    ),
  ]);
  return {
    ...page,
    items: page.items.map((row) => {
      const wallet = wallets.find(({ id }) => id === row.wallet_id);
      return {
        ...transactionAnswer(row),
        wallet: wallet === undefined ? null : walletAnswer(wallet),
        customer: customers.find(({ id }) => id === row.customer_id) ?? null,
        created_by_user: users.find(({ id }) => id === row.created_by) ?? null,
      };
    }),
  };
}
