import { alreadyExists } from '../../../domain/errors.ts';
import type { AutoTopUp } from '../../../domain/wallet/auto-top-up.ts';
import type { AlertSettings } from '../../../domain/wallet/balance-alert.ts';
import type { CreditBlock } from '../../../domain/wallet/credit-block.ts';
import {
  inScope,
  oneOf,
  type Db,
  type Fragment,
  type Scope,
  type Transaction,
} from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import { tableOf } from '../../../postgres/table.ts';
import type { Page, Search } from '../../../schemas/search.ts';
import type { Wallet } from '../../../schemas/wallet.ts';

/** A wallet as stored. */
export interface WalletRow extends Omit<
  Wallet,
  | 'config'
  | 'credits_available_breakdown'
  | 'real_time_balance'
  | 'real_time_credit_balance'
  | 'alert_settings'
  | 'auto_topup'
> {
  readonly alert_settings: AlertSettings | null;
  readonly auto_topup: Omit<AutoTopUp, 'off_session'> | null;
  readonly allowed_price_types: Wallet['config']['allowed_price_types'];
  /** Credits left in the blocks; the balance is this less the overdraft. */
  readonly credits_in_blocks: string;
  readonly overdraft: string;
}

const wallets = tableOf<WalletRow>({
  name: 'wallets',
  noun: 'Wallet',
  columns: (db) => db`
  id, tenant_id, environment_id, customer_id, name, description, currency, wallet_type, wallet_status,
  conversion_rate, topup_conversion_rate, credit_balance, balance, credits_in_blocks, overdraft,
  allowed_price_types, alert_settings, alert_state, auto_topup, metadata, status, created_at, updated_at, created_by, updated_by`,
  json: ['metadata', 'alert_settings', 'auto_topup'],
  taken: {
    wallets_customer_id_currency_key: ({ currency, wallet_type }) =>
      alreadyExists(`active ${wallet_type} wallet of this customer`, 'currency', currency ?? ''),
  },
});

/** The wallet, closed or not. 404 if the id is unknown or belongs to another scope. */
export const getWallet = wallets.get;

/** Wallets with these ids, closed ones included, unordered. */
export const findWallets = wallets.find;

/** The wallet, locked until the transaction ends. 404 as for `getWallet`. */
export const lockWallet = wallets.lock;

/** 409 if the customer has an active wallet of the currency and type. */
export const insertWallet = wallets.insert;

/** Changes the given columns. 404 as for `getWallet`, 409 as for `insertWallet`. */
export const updateWalletRow = wallets.change;

/**
 * The customer's wallet of that currency and type that accepts credits, locked: the active one, else the newest
 * frozen one; null if there is none.
 */
export async function lockCreditableWallet(
  tx: Transaction,
  scope: Scope,
  of: Pick<WalletRow, 'customer_id' | 'currency' | 'wallet_type'>,
): Promise<WalletRow | null> {
  const [row] = await tx<WalletRow[]>`
    select ${wallets.columns(tx)} from wallets
     where ${inScope(tx, scope)} and customer_id = ${of.customer_id} and currency = ${of.currency}
       and wallet_type = ${of.wallet_type} and wallet_status in ('active', 'frozen') and status = 'published'
     order by wallet_status, created_at desc, id desc
     limit 1
       for update`;
  return row ?? null;
}

/**
 * Lets one transaction at a time make a wallet of the currency and type for the customer: the others wait until it
 * ends.
 */
export async function lockWalletCreation(
  tx: Transaction,
  { environment_id }: Scope,
  {
    customer_id,
    currency,
    wallet_type,
  }: Pick<WalletRow, 'customer_id' | 'currency' | 'wallet_type'>,
): Promise<void> {
  const key = `wallet ${environment_id} ${customer_id} ${currency} ${wallet_type}`;
  await tx`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`;
}

/** The scope of a wallet of any tenant, for the operator only; null if it is unknown. */
export async function findScopeOfWallet(db: Db, id: string): Promise<Scope | null> {
  const [scope] = await db<Scope[]>`select tenant_id, environment_id from wallets where id = ${id}`;
  return scope ?? null;
}

/** The wallets with these ids, locked in the order of their ids. Leaves out unknown ids. */
export const lockWallets = (tx: Transaction, scope: Scope, ids: readonly string[]) =>
  lockInOrder(tx, scope, ids, tx``);

/** As `lockWallets`, without those that another transaction has locked. */
export const lockFreeWallets = (tx: Transaction, scope: Scope, ids: readonly string[]) =>
  lockInOrder(tx, scope, ids, tx`skip locked`);

async function lockInOrder(
  tx: Transaction,
  scope: Scope,
  ids: readonly string[],
  skipping: Fragment,
): Promise<WalletRow[]> {
  return await tx<WalletRow[]>`
    select ${wallets.columns(tx)} from wallets
     where ${inScope(tx, scope)} and id ${oneOf(tx, ids)}
     order by id
       for update ${skipping}`;
}

/**
 * Active PRE_PAID wallets of these customers that hold credits, locked in the order of their ids: two
 * commands that lock several never wait for each other.
 */
export async function lockPrepaidWallets(
  tx: Transaction,
  scope: Scope,
  customerIds: readonly string[],
): Promise<WalletRow[]> {
  if (customerIds.length === 0) return [];
  return await tx<WalletRow[]>`${prepaidWallets(tx, scope, customerIds)} for update`;
}

/** The same wallets, not locked. */
export const findPrepaidWallets = async (
  db: Db,
  scope: Scope,
  customerId: string,
): Promise<WalletRow[]> => await db<WalletRow[]>`${prepaidWallets(db, scope, [customerId])}`;

const prepaidWallets = (db: Db, scope: Scope, customerIds: readonly string[]): Fragment => db`
  select ${wallets.columns(db)} from wallets
   where ${inScope(db, scope)} and customer_id ${oneOf(db, customerIds)}
     and wallet_type = 'PRE_PAID' and wallet_status = 'active' and status = 'published'
     and credits_in_blocks > 0
   order by id`;

/** The shortest time between two announcements of the ongoing credits of a wallet (money 4.10). */
const ANNOUNCED_EVERY = '1 minute';

/**
 * Notes the ongoing credits as announced. False if they were announced last, or are the settled balance and nothing
 * was announced yet. Also false if the last announcement is less than a minute old; a later evaluation then
 * announces the credits of that time. The caller holds the wallet's lock.
 */
export async function noteAnnouncedCredits(
  tx: Transaction,
  scope: Scope,
  walletId: string,
  { credits, at }: { readonly credits: string; readonly at: string },
): Promise<boolean> {
  const moved = await tx`
    update wallets set announced_ongoing_credits = ${credits}, ongoing_announced_at = ${at}
     where ${inScope(tx, scope)} and id = ${walletId}
       and coalesce(announced_ongoing_credits, credit_balance) <> ${credits} and ${mayAnnounce(tx, at)}`;
  return moved.count > 0;
}

/** What `noteAnnouncedCredits` compares, by wallet; none of wallets of which nothing may be announced yet. */
export async function announcedCredits(
  db: Db,
  scope: Scope,
  walletIds: readonly string[],
  at: string,
): Promise<ReadonlyMap<string, string>> {
  const rows = await db<{ id: string; credits: string }[]>`
    select id, coalesce(announced_ongoing_credits, credit_balance) as credits from wallets
     where ${inScope(db, scope)} and id ${oneOf(db, walletIds)} and ${mayAnnounce(db, at)}`;
  return new Map(rows.map(({ id, credits }) => [id, credits]));
}

const mayAnnounce = (db: Db, at: string): Fragment => db`
  (ongoing_announced_at is null
   or ongoing_announced_at <= ${at}::timestamptz - ${ANNOUNCED_EVERY}::interval)`;

/** Wallets of a customer that are not closed, newest first. */
export async function findWalletsOfCustomer(
  db: Db,
  scope: Scope,
  customerId: string,
): Promise<WalletRow[]> {
  return await db<WalletRow[]>`
    select ${wallets.columns(db)} from wallets
     where ${inScope(db, scope)} and customer_id = ${customerId} and wallet_status <> 'closed'
     order by created_at desc, id desc`;
}

/** The wallets of the customer that are not closed, locked, in id order. */
export async function lockWalletsOfCustomer(
  tx: Transaction,
  scope: Scope,
  customerId: string,
): Promise<WalletRow[]> {
  return await tx<WalletRow[]>`
    select ${wallets.columns(tx)} from wallets
     where ${inScope(tx, scope)} and customer_id = ${customerId} and wallet_status <> 'closed'
     order by id
       for update`;
}

export interface WalletFilter {
  readonly wallet_ids?: string[] | null;
  readonly customer_id?: string | null;
  readonly customer_ids?: string[] | null;
  readonly currency?: string | null;
  readonly wallet_type?: string | null;
  readonly wallet_status?: string | null;
  readonly status?: string | null;
  readonly alert_enabled?: boolean | null;
  readonly search: Search;
}

/** Wallets of every status unless one is requested. */
export function searchWallets(
  db: Db,
  scope: Scope,
  filter: WalletFilter,
): Promise<Page<WalletRow>> {
  const { search, wallet_ids, customer_ids, alert_enabled } = filter;
  const walletStatus = filter.wallet_status || filter.status;
  return findPage<WalletRow>(db, {
    columns: wallets.columns(db),
    from: db`wallets`,
    where: db`${inScope(db, scope)}
      ${wallet_ids?.length ? db`and id = any(${wallet_ids})` : db``}
      ${filter.customer_id ? db`and customer_id = ${filter.customer_id}` : db``}
      ${customer_ids?.length ? db`and customer_id = any(${customer_ids})` : db``}
      ${filter.currency ? db`and currency = ${filter.currency.toLowerCase()}` : db``}
      ${filter.wallet_type ? db`and wallet_type = ${filter.wallet_type}` : db``}
      ${walletStatus ? db`and wallet_status = ${walletStatus}` : db``}
      ${alert_enabled == null ? db`` : db`and coalesce((alert_settings ->> 'alert_enabled')::boolean, false) = ${alert_enabled}`}`,
    search,
  });
}

/** A wallet with its expired blocks, as they are at one instant. */
export interface WalletWithExpired {
  readonly wallet: WalletRow;
  readonly blocks: readonly CreditBlock[];
}

/**
 * The wallets with their blocks that have expired by `at` and hold credits. One statement, because between two the job
 * may write an expired block off: then its credits would be missing from the balance twice. Only the first block of a
 * wallet comes with its columns.
 */
export async function findWithExpired(
  db: Db,
  scope: Scope,
  ids: readonly string[],
  at: string,
): Promise<WalletWithExpired[]> {
  if (ids.length === 0) return [];
  interface Block {
    readonly block_id: string | null;
    readonly block_reason: CreditBlock['transaction_reason'];
    readonly block_credits: string;
    readonly block_priority: number | null;
    readonly block_expiry: string | null;
    readonly block_created_at: string;
    readonly block_number: string | null;
    readonly of_wallet: string;
  }
  const rows = await db<(WalletRow & Block)[]>`
    select w.*, b.*, k.id as of_wallet
      from (select id from wallets where ${inScope(db, scope)} and id ${oneOf(db, ids)}) k
      left join lateral (
        select id as block_id, transaction_reason as block_reason, credits_available as block_credits,
               priority as block_priority, expiry_date as block_expiry, created_at as block_created_at,
               row_number() over () as block_number
          from wallet_transactions t
         where ${inScope(db, scope, 't')} and t.wallet_id = k.id and t.holds_credits
            and t.expiry_date <= ${at}) b on true
      left join (select ${wallets.columns(db)} from wallets
                  where ${inScope(db, scope)} and id ${oneOf(db, ids)}) w
        on w.id = k.id and coalesce(b.block_number, 1) = 1`;
  const found = new Map<string, WalletRow>();
  const blocks = new Map<string, CreditBlock[]>();
  for (const row of rows) {
    const {
      of_wallet,
      block_id,
      block_reason,
      block_credits,
      block_priority,
      block_expiry,
      block_created_at,
      block_number,
      ...wallet
    } = row;
    if (block_number === null || block_number === '1') found.set(of_wallet, wallet);
    if (block_id === null) continue;
    const ofWallet = blocks.get(of_wallet) ?? [];
    blocks.set(of_wallet, ofWallet);
    ofWallet.push({
      id: block_id,
      transaction_reason: block_reason,
      credits_available: block_credits,
      priority: block_priority,
      expiry_date: block_expiry,
      created_at: block_created_at,
    });
  }
  return [...found].map(([id, wallet]) => ({ wallet, blocks: blocks.get(id) ?? [] }));
}
