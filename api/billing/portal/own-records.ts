import assert from 'node:assert/strict';
import { notFound } from '../../../domain/errors.ts';
import type { CustomerIdentity, Identity } from '../../../platform/identity/identity.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import { InvoiceSearch, type Invoice, type InvoiceRecord } from '../../../schemas/invoice.ts';
import type { Caller } from '../../conventions/record.ts';
import type { Page } from '../../../schemas/search.ts';
import type { Subscription } from '../../../schemas/subscription-answers.ts';
import { SubscriptionSearch } from '../../../schemas/subscription.ts';
import type { WalletBalance } from '../../../schemas/wallet.ts';
import type { BillingDeps, BalanceDeps } from '../../deps.ts';
import { invoiceAnswers } from '../invoices/answers.ts';
import { listInvoices } from '../invoices/list-invoices.ts';
import { previewInvoice } from '../subscriptions/previews/preview-invoice.ts';
import { getInvoice } from '../records/invoice-repository.ts';
import { listSubscriptions, readSubscription } from '../subscriptions/read-subscriptions.ts';
import { balanceAnswers } from '../balances/real-time-balance.ts';
import { findWalletsOfCustomer, getWallet, type WalletRow } from '../credits/wallet-repository.ts';
import { getSubscription } from '../records/subscription-repository.ts';

/** An end customer and their scope: taken from the session, never from the request. */
export interface PortalCustomer {
  readonly scope: Scope;
  readonly customer_id: string;
}

interface PageOf {
  readonly limit: number;
  readonly offset: number;
}

type Deps = Pick<BillingDeps, 'pool' | 'clock'>;

/** The caller of a route with the permission `portal`: only portal sessions reach it. */
export function customerOf(identity: Identity): CustomerIdentity {
  assert(identity.kind === 'customer');
  return identity;
}

/** The session's customer. */
export const portalCustomer = (call: {
  readonly scope: Scope;
  readonly identity: Identity;
}): PortalCustomer => ({
  scope: call.scope,
  customer_id: customerOf(call.identity).customer_id,
});

/** Drafts are visible to the tenant only; every later status is shown (tenancy 15.4). */
const SHOWN_SUBSCRIPTIONS = ['active', 'trialing', 'paused', 'incomplete', 'cancelled'] as const;
const SHOWN_INVOICES = ['FINALIZED', 'VOIDED'] as const;

const isShown = (invoice: { readonly invoice_status: string }): boolean =>
  SHOWN_INVOICES.some((status) => status === invoice.invoice_status);

/** The customer's subscriptions, newest first. */
export async function listOwnSubscriptions(
  deps: Deps,
  { scope, customer_id }: PortalCustomer,
  page: PageOf,
): Promise<Page<Subscription>> {
  const asked = { ...page, customer_id, subscription_status: SHOWN_SUBSCRIPTIONS };
  const found = await listSubscriptions(deps, scope, SubscriptionSearch.body.parse(asked));
  return withoutMetadata({ ...found, items: found.items.map(withoutDraft) });
}

/** 404 for another customer's subscription, as for an unknown one; nothing of it is read before the check. */
export async function readOwnSubscription(
  deps: Deps,
  { scope, customer_id }: PortalCustomer,
  id: string,
): Promise<Subscription> {
  await assertShownSubscription(deps, { scope, customer_id }, id);
  return withoutMetadata(withoutDraft(await readSubscription(deps, scope, id)));
}

/**
 * The invoice of the running period as if it ended now; 404 as in `readOwnSubscription`. How its amounts were computed
 * is not shown.
 */
export async function previewOwnInvoice(
  deps: BillingDeps & BalanceDeps,
  caller: Caller,
  customer: PortalCustomer,
  id: string,
): Promise<Invoice> {
  await assertShownSubscription(deps, customer, id);
  const { line_items, ...invoice } = await previewInvoice(deps, caller, { subscription_id: id });
  const lines = line_items?.map((line) => ({ ...line, explanation: null })) ?? null;
  return withoutMetadata({ ...invoice, line_items: lines });
}

async function assertShownSubscription(
  { pool }: Pick<Deps, 'pool'>,
  { scope, customer_id }: PortalCustomer,
  id: string,
): Promise<void> {
  const row = await getSubscription(pool, scope, id);
  if (row.customer_id !== customer_id || row.subscription_status === 'draft')
    throw notFound('Subscription', id);
}

/** The customer's invoices, newest first. */
export async function listOwnInvoices(
  deps: Deps,
  { scope, customer_id }: PortalCustomer,
  page: PageOf,
): Promise<Page<Invoice>> {
  const asked = { ...page, customer_id, invoice_status: SHOWN_INVOICES };
  return withoutMetadata(await listInvoices(deps, scope, InvoiceSearch.body.parse(asked)));
}

/** 404 for another customer's invoice and for a draft, as for an unknown one. */
export async function readOwnInvoice(
  deps: Deps,
  { scope, customer_id }: PortalCustomer,
  id: string,
): Promise<Invoice> {
  const row = await getShownInvoice(deps, { scope, customer_id }, id);
  const embed = { line_items: true, customer: true, tax_rates: true };
  const [invoice] = await invoiceAnswers(deps.pool, scope, [row], embed);
  return withoutMetadata(invoice!);
}

/** The customer's wallets that are not closed, newest first, with their balances. */
export async function listOwnWallets(
  deps: BalanceDeps,
  { scope, customer_id }: PortalCustomer,
): Promise<WalletBalance[]> {
  const rows = await findWalletsOfCustomer(deps.pool, scope, customer_id);
  return withoutMetadata(await balanceAnswers(deps, scope, rows, new Set()));
}

/** 404 for another customer's wallet, as for an unknown one. */
export async function getOwnWallet(
  db: Db,
  { scope, customer_id }: PortalCustomer,
  id: string,
): Promise<WalletRow> {
  const wallet = await getWallet(db, scope, id);
  if (wallet.customer_id !== customer_id) throw notFound('Wallet', id);
  return wallet;
}

/** The stored invoice; 404 as in `readOwnInvoice`. */
export async function getShownInvoice(
  deps: Pick<Deps, 'pool'>,
  { scope, customer_id }: PortalCustomer,
  id: string,
): Promise<InvoiceRecord> {
  const row = await getInvoice(deps.pool, scope, id);
  if (row.customer_id !== customer_id || !isShown(row)) throw notFound('Invoice', id);
  return row;
}

const withoutDraft = (subscription: Subscription): Subscription => {
  const { latest_invoice } = subscription;
  const isHidden = latest_invoice !== null && !isShown(latest_invoice);
  return isHidden ? { ...subscription, latest_invoice: null } : subscription;
};

/** Removes the metadata of every record at any depth: it holds the tenant's private notes. */
export function withoutMetadata<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(withoutMetadata) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === 'metadata' ? {} : withoutMetadata(inner),
    ]),
  ) as Value;
}
