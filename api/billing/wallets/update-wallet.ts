import { invalidOperation } from '../../../domain/errors.ts';
import { problems } from '../../../domain/pricing/problems.ts';
import type { AllowedPriceType } from '../../../domain/invoicing/prepaid-credits.ts';
import { canonicalPriceTypes, defaultPriceTypes } from '../../../domain/wallet/wallet-order.ts';
import { defaultName } from '../../../domain/wallet/wallet.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { readSetting } from '../../../postgres/tables/settings.ts';
import { writeOutbox } from '../../../postgres/tables/outbox.ts';
import type { UpdateWalletBody } from '../../../schemas/wallet-requests.ts';
import type { BillingDeps } from '../../deps.ts';
import { changed, sent, sentOr, type Caller } from '../../conventions/record.ts';
import { lockWallet, updateWalletRow, type WalletRow } from '../credits/wallet-repository.ts';
import { checkedAlertSettings, mergedAutoTopUp } from './watch-settings.ts';
import { walletSnapshot } from '../credits/wallet-notification.ts';

const FIXED = ['currency', 'wallet_type', 'conversion_rate', 'topup_conversion_rate'] as const;

/** 400 names each field that would change the money of the wallet. */
function refuseOtherMoney(wallet: WalletRow, body: UpdateWalletBody): void {
  const found = problems();
  for (const field of FIXED)
    if (body[field] != null && body[field] !== wallet[field])
      found.add(field, 'immutable', 'of a wallet does not change');
  found.refuse();
}

/**
 * Of a closed wallet only the texts change (money 2.12). It is not watched and pays nothing any more: what would be
 * watched, or paid, is refused, not kept without effect. `types` are the price types that the request sets.
 */
function refuseReopening(
  wallet: WalletRow,
  { auto_topup, alert_settings }: UpdateWalletBody,
  types: readonly AllowedPriceType[] | undefined,
): void {
  if (wallet.wallet_status !== 'closed') return;
  if (auto_topup?.enabled === true || alert_settings?.alert_enabled === true)
    throw invalidOperation(
      'A closed wallet has no automatic top-up and no alerts.',
      'wallet_status',
    );
  if (types !== undefined && types.join() !== wallet.allowed_price_types.join())
    throw invalidOperation(
      'What a closed wallet may pay does not change.',
      'config.allowed_price_types',
    );
}

const priceTypesOf = ({ wallet_type }: WalletRow, types: readonly AllowedPriceType[] | null) =>
  types === null ? defaultPriceTypes(wallet_type) : canonicalPriceTypes(types);

/**
 * Changes name, description, metadata and what the wallet may pay; never its money (money 2.1.8). Of a closed wallet
 * name, description and metadata only (2.12).
 */
export async function updateWallet(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  walletId: string,
  body: UpdateWalletBody,
): Promise<WalletRow> {
  const { name, description, metadata, config } = body;
  const locked = await lockWallet(tx, caller.scope, walletId);
  refuseOtherMoney(locked, body);
  const limits = await readSetting(tx, caller.scope, 'wallet_topup_config');
  const asked = config === null ? null : config?.allowed_price_types;
  const types = asked === undefined ? undefined : priceTypesOf(locked, asked);
  refuseReopening(locked, body, types);
  const wallet = await updateWalletRow(tx, caller.scope, walletId, {
    ...sent({ description, metadata }),
    ...sentOr({ name }, { name: defaultName(locked) }),
    ...(types === undefined ? {} : { allowed_price_types: types }),
    ...(body.alert_settings === undefined
      ? {}
      : { alert_settings: checkedAlertSettings(body.alert_settings) }),
    ...(body.auto_topup === undefined
      ? {}
      : {
          auto_topup:
            body.auto_topup && mergedAutoTopUp(locked.auto_topup, body.auto_topup, locked, limits),
        }),
    ...changed(deps, caller),
  });
  await writeOutbox(tx, caller.scope, 'wallet.updated', { wallet: walletSnapshot(wallet) });
  return wallet;
}
