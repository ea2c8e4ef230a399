import { invalidField } from '../../../domain/errors.ts';
import { decimal } from '../../../domain/money.ts';
import { moveWallet } from '../../../domain/states/wallet.ts';
import {
  assertFreeLimit,
  assertRate,
  expiryFromDateNumber,
} from '../../../domain/wallet/top-up.ts';
import { epochMs } from '../../../domain/time/instant.ts';
import { creditWallet } from '../../../domain/wallet/wallet.ts';
import { canonicalPriceTypes, defaultPriceTypes } from '../../../domain/wallet/wallet-order.ts';
import { defaultName } from '../../../domain/wallet/wallet.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import { writeOutbox } from '../../../postgres/tables/outbox.ts';
import { readSetting } from '../../../postgres/tables/settings.ts';
import type { CreateWalletBody } from '../../../schemas/wallet-requests.ts';
import { publishedUnitByCode } from '../../catalog/price-units/repository.ts';
import { lockCustomer } from '../../customers/customers/repository.ts';
import type { BillingDeps } from '../../deps.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { assertKnownCurrency } from '../../tenancy/settings/custom-currencies.ts';
import { hashReference } from './references.ts';
import { ledgerAfter, ledgerOf, writeDecision } from '../credits/ledger.ts';
import { checkedAlertSettings, mergedAutoTopUp } from './watch-settings.ts';
import { insertWallet, lockWalletCreation, type WalletRow } from '../credits/wallet-repository.ts';
import { walletSnapshot } from '../credits/wallet-notification.ts';

/**
 * Creates a wallet; a customer has at most one active wallet of each currency and type. Initial credits are
 * one free block, added in the same transaction (money 2.1).
 */
export async function createWallet(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  body: CreateWalletBody,
): Promise<WalletRow> {
  const { scope } = caller;
  const customerId = await customerIdOf(tx, scope, body);
  const terms = await currencyAndRates(tx, scope, body);
  const config = await readSetting(tx, scope, 'wallet_topup_config');
  const wallet = await openWallet(tx, deps, caller, {
    customer_id: customerId,
    ...terms,
    wallet_type: body.wallet_type ?? 'PRE_PAID',
    name: body.name ?? null,
    description: body.description ?? null,
    allowed_price_types: body.config?.allowed_price_types ?? null,
    metadata: body.metadata ?? {},
    alert_settings: checkedAlertSettings(body.alert_settings),
    auto_topup: mergedAutoTopUp(null, body.auto_topup, terms, config),
  });
  const credits = decimal(body.initial_credits_to_load ?? '0');
  const expiry_date =
    body.initial_credits_expiry_date_utc ??
    (body.initial_credits_to_load_expiry_date == null
      ? null
      : expiryFromDateNumber(
          body.initial_credits_to_load_expiry_date,
          'initial_credits_to_load_expiry_date',
        ));
  if (credits.isZero()) {
    if (expiry_date !== null)
      throw invalidField(
        body.initial_credits_expiry_date_utc == null
          ? 'initial_credits_to_load_expiry_date'
          : 'initial_credits_expiry_date_utc',
        'is for first credits; send initial_credits_to_load too, or leave it out',
      );
    await announceWallet(tx, caller, wallet);
    return wallet;
  }

  assertFreeLimit(credits, config, 'initial_credits_to_load');
  const ledger = await ledgerOf(tx, deps, wallet);
  if (expiry_date !== null && epochMs(expiry_date) <= epochMs(ledger.at))
    throw invalidField('initial_credits_expiry_date_utc', 'must be in the future');
  const decision = creditWallet(
    wallet,
    [],
    {
      id: deps.ids.next('wtxn'),
      credits,
      transaction_reason: 'FREE_CREDIT_GRANT',
      priority: null,
      expiry_date,
      parent_transaction_id: null,
    },
    ledger.at,
  );
  const filled = ledgerAfter(ledger, decision, caller.user_id).wallet;
  await announceWallet(tx, caller, filled);
  await writeDecision(tx, caller, ledger, decision, () => ({
    reference_type: 'EXTERNAL',
    reference_id: hashReference('credit_grant', wallet.id),
  }));
  return filled;
}

/** Fields of a new wallet. A missing name and missing price types take their defaults. */
export type NewWallet = Pick<
  WalletRow,
  | 'customer_id' | 'currency' | 'wallet_type' | 'conversion_rate' | 'topup_conversion_rate'
  | 'description' | 'metadata'
> & {
  readonly name: string | null;
  readonly allowed_price_types: WalletRow['allowed_price_types'] | null;
  readonly alert_settings?: WalletRow['alert_settings'];
  readonly auto_topup?: WalletRow['auto_topup'];
}; // prettier-ignore

/**
 * Inserts an empty wallet, which the caller announces. 409 if an active one of the same kind exists. A command that
 * credits such a wallet waits for this one (`prepaidWallet`).
 */
export async function openWallet(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  opened: NewWallet,
): Promise<WalletRow> {
  await lockWalletCreation(tx, caller.scope, opened);
  return await insertWallet(tx, {
    ...newRecord(deps, caller, 'wallet'),
    ...opened,
    name: opened.name ?? defaultName(opened),
    wallet_status: moveWallet(null, 'create'),
    credit_balance: '0',
    balance: '0',
    credits_in_blocks: '0',
    overdraft: '0',
    allowed_price_types:
      opened.allowed_price_types === null
        ? defaultPriceTypes(opened.wallet_type)
        : canonicalPriceTypes(opened.allowed_price_types),
    alert_settings: opened.alert_settings ?? null,
    alert_state: 'ok',
    auto_topup: opened.auto_topup ?? null,
  });
}

/**
 * Announces a new wallet as its command leaves it, with its first credits (money 17.3.3). Call it before the credits
 * are written: a receiver then learns of the wallet before its transactions.
 */
export const announceWallet = (
  tx: Transaction,
  { scope }: Caller,
  wallet: WalletRow,
): Promise<void> => writeOutbox(tx, scope, 'wallet.created', { wallet: walletSnapshot(wallet) });

async function customerIdOf(
  tx: Transaction,
  scope: Scope,
  body: Pick<CreateWalletBody, 'customer_id' | 'external_customer_id'>,
): Promise<string> {
  if (!body.customer_id && !body.external_customer_id)
    throw invalidField('customer_id', 'give customer_id or external_customer_id');
  // The deletion of the customer waits for this wallet.
  const customer = await lockCustomer(
    tx,
    scope,
    body.customer_id ? { id: body.customer_id } : { external_id: body.external_customer_id! },
  );
  if (body.external_customer_id && customer.external_id !== body.external_customer_id)
    throw invalidField('external_customer_id', 'names another customer than customer_id');
  if (customer.status !== 'published') throw invalidField('customer_id', `is ${customer.status}`);
  return customer.id;
}

/**
 * With a pricing unit, the unit determines currency and rate, and the rates of the request are ignored (money
 * 2.1.4).
 */
async function currencyAndRates(
  tx: Transaction,
  scope: Scope,
  body: CreateWalletBody,
): Promise<Pick<WalletRow, 'currency' | 'conversion_rate' | 'topup_conversion_rate'>> {
  if (body.price_unit) {
    const unit = await publishedUnitByCode(tx, scope, body.price_unit);
    if (unit === null)
      throw invalidField('price_unit', `no published price unit has the code "${body.price_unit}"`);
    const rate = unit.conversion_rate;
    return { currency: unit.base_currency, conversion_rate: rate, topup_conversion_rate: rate };
  }
  if (!body.currency) throw invalidField('currency', 'is required');
  await assertKnownCurrency(tx, scope, body.currency);
  const conversion_rate = body.conversion_rate ?? '1';
  const topup_conversion_rate = body.topup_conversion_rate ?? conversion_rate;
  assertRate(decimal(conversion_rate), 'conversion_rate');
  assertRate(decimal(topup_conversion_rate), 'topup_conversion_rate');
  return { currency: body.currency, conversion_rate, topup_conversion_rate };
}
