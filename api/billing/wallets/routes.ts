import { IdParams, Message } from '../../../schemas/primitives.ts';
import { expandQuery, pageOf } from '../../../schemas/search.ts';
import {
  CreateWalletBody,
  DebitWalletBody,
  ModifyWalletBody,
  TopUpBody,
  UpdateWalletBody,
} from '../../../schemas/wallet-requests.ts';
import {
  ModifiedWallet,
  TopUpAnswer,
  Wallet,
  WALLET_EXPANDS,
  WalletBalance,
  WalletSearch,
  WalletTransaction,
  WalletTransactionSearch,
} from '../../../schemas/wallet.ts';
import { WalletForecast } from '../../../schemas/wallet-forecast.ts';
import { route } from '../../conventions/route.ts';
import {
  transactionAnswer,
  transactionAnswers,
  walletAnswer,
  walletAnswers,
} from '../credits/wallet-answers.ts';
import { evaluated } from '../balances/evaluate-wallet.ts';
import { maxAgeSeconds } from '../balances/max-age.ts';
import { balanceAnswers } from '../balances/real-time-balance.ts';
import { walletForecast } from '../balances/wallet-forecast.ts';
import type { BalanceDeps } from '../../deps.ts';
import { createWallet } from './create-wallet.ts';
import { debitWallet } from './debit-queue.ts';
import { closeWallet, convertWallet } from './end-wallet.ts';
import { getWallet, searchWallets, type WalletFilter } from '../credits/wallet-repository.ts';
import { searchTransactions } from '../credits/wallet-transaction-repository.ts';
import { runGatedCommand, withCheckout } from '../records/gated-command.ts';
import { offerPurchase, topUpWallet } from './top-up.ts';
import { updateWallet } from './update-wallet.ts';
import type { Db, Scope } from '../../../postgres/client.ts';

async function walletPage(db: Db, scope: Scope, filter: WalletFilter) {
  const page = await searchWallets(db, scope, filter);
  const items = await walletAnswers(db, scope, page.items, filter.search.expand);
  return { ...page, items };
}

async function balanceOf(
  deps: BalanceDeps,
  scope: Scope,
  id: string,
  expand: ReadonlySet<string>,
  maxAge: number,
) {
  const wallet = await getWallet(deps.pool, scope, id);
  const [answer] = await balanceAnswers(deps, scope, [wallet], expand, maxAge);
  return answer!;
}

export const walletRoutes = [
  route({
    method: 'POST',
    path: '/wallets',
    summary: 'Create a wallet',
    permission: 'wallet:write',
    body: CreateWalletBody,
    status: 200,
    answer: Wallet,
    async handler(call) {
      const { deps, body } = call;
      const wallet = await deps.pool.begin((tx) => createWallet(tx, deps, call, body));
      return walletAnswer(await evaluated(deps, call, wallet));
    },
  }),
  route({
    method: 'GET',
    path: '/wallets',
    summary: 'List wallets',
    permission: 'wallet:read',
    query: WalletSearch.query,
    status: 200,
    answer: pageOf(Wallet),
    handler: ({ deps, scope, query }) => walletPage(deps.pool, scope, query),
  }),
  route({
    method: 'POST',
    path: '/wallets/search',
    summary: 'Search wallets',
    permission: 'wallet:read',
    body: WalletSearch.body,
    status: 200,
    answer: pageOf(Wallet),
    handler: ({ deps, scope, body }) => walletPage(deps.pool, scope, body),
  }),
  route({
    method: 'POST',
    path: '/wallets/transactions/search',
    summary: 'Search wallet transactions',
    permission: 'wallet:read',
    body: WalletTransactionSearch.body,
    status: 200,
    answer: pageOf(WalletTransaction),
    async handler({ deps, scope, body }) {
      const page = await searchTransactions(deps.pool, scope, body);
      return await transactionAnswers(deps.pool, scope, page, body.search);
    },
  }),
  route({
    method: 'GET',
    path: '/wallets/{id}',
    summary: 'Get a wallet',
    permission: 'wallet:read',
    params: IdParams,
    query: expandQuery(WALLET_EXPANDS),
    status: 200,
    answer: Wallet,
    async handler({ deps, scope, params, query }) {
      const row = await getWallet(deps.pool, scope, params.id);
      const [answer] = await walletAnswers(deps.pool, scope, [row], query.search.expand);
      return answer!;
    },
  }),
  route({
    method: 'PUT',
    path: '/wallets/{id}',
    summary: 'Update a wallet',
    permission: 'wallet:write',
    params: IdParams,
    body: UpdateWalletBody,
    status: 200,
    answer: Wallet,
    async handler(call) {
      const { deps, params, body } = call;
      const wallet = await deps.pool.begin((tx) => updateWallet(tx, deps, call, params.id, body));
      return walletAnswer(await evaluated(deps, call, wallet));
    },
  }),
  route({
    method: 'GET',
    path: '/wallets/{id}/balance/real-time',
    summary:
      'Get the balance after usage and open invoices; with x-max-live, the usage may be that many seconds old',
    permission: 'wallet:read',
    params: IdParams,
    query: expandQuery(WALLET_EXPANDS),
    status: 200,
    answer: WalletBalance,
    handler: ({ deps, scope, params, query, headers }) =>
      balanceOf(deps, scope, params.id, query.search.expand, maxAgeSeconds(headers)),
  }),
  route({
    method: 'GET',
    path: '/wallets/{id}/balance/real-time-cached',
    summary: 'Get the balance after usage and open invoices, as /wallets/{id}/balance/real-time',
    permission: 'wallet:read',
    params: IdParams,
    query: expandQuery(WALLET_EXPANDS),
    status: 200,
    answer: WalletBalance,
    handler: ({ deps, scope, params, query, headers }) =>
      balanceOf(deps, scope, params.id, query.search.expand, maxAgeSeconds(headers)),
  }),
  route({
    method: 'GET',
    path: '/wallets/{id}/forecast',
    summary: 'Get when a wallet is empty if usage goes on as in the last four weeks',
    permission: 'wallet:read',
    params: IdParams,
    status: 200,
    answer: WalletForecast,
    async handler({ deps, scope, params }) {
      return await walletForecast(deps, scope, await getWallet(deps.pool, scope, params.id));
    },
  }),
  route({
    method: 'GET',
    path: '/wallets/{id}/transactions',
    summary: 'List the transactions of a wallet',
    permission: 'wallet:read',
    params: IdParams,
    query: WalletTransactionSearch.query,
    status: 200,
    answer: pageOf(WalletTransaction),
    async handler({ deps, scope, params, query }) {
      const { id } = await getWallet(deps.pool, scope, params.id);
      const page = await searchTransactions(deps.pool, scope, { ...query, id });
      return await transactionAnswers(deps.pool, scope, page, query.search);
    },
  }),
  route({
    method: 'POST',
    path: '/wallets/{id}/top-up',
    summary: 'Add credits to a wallet',
    permission: 'wallet:write',
    ownsTransactions: true,
    params: IdParams,
    body: TopUpBody,
    status: 200,
    answer: TopUpAnswer,
    async handler(call) {
      const { deps, params, body } = call;
      const done = await runGatedCommand(
        deps,
        call,
        'wallet',
        withCheckout(`/wallets/${params.id}/top-up`, body),
        ({ checkout }) => checkout?.id ?? null,
        () => Promise.resolve((tx) => topUpWallet(tx, deps, call, params.id, body)),
      );
      const { wallet, transaction, session } = await offerPurchase(deps, call, done);
      return {
        wallet_transaction: transactionAnswer(transaction),
        wallet: walletAnswer(await evaluated(deps, call, wallet)),
        invoice_id: done.invoice_id,
        checkout_session: session,
      };
    },
  }),
  route({
    method: 'POST',
    path: '/wallets/{id}/debit',
    summary: 'Debit a wallet; its balance may become negative',
    permission: 'wallet:write',
    params: IdParams,
    body: DebitWalletBody,
    status: 200,
    answer: Wallet,
    handler: async (call) =>
      walletAnswer(await debitWallet(call.deps, call, call.params.id, call.body)),
  }),
  route({
    method: 'POST',
    path: '/wallets/{id}/terminate',
    summary: 'Close a wallet and debit its remaining credits',
    permission: 'wallet:write',
    params: IdParams,
    status: 200,
    answer: Wallet.extend(Message.shape),
    handler: (call) =>
      call.deps.pool.begin(async (tx) => ({
        ...walletAnswer(await closeWallet(tx, call.deps, call, call.params.id)),
        message: 'wallet terminated successfully',
      })),
  }),
  route({
    method: 'POST',
    path: '/wallets/{id}/modify',
    summary: 'Convert a prepaid wallet to postpaid',
    permission: 'wallet:write',
    params: IdParams,
    body: ModifyWalletBody,
    status: 200,
    answer: ModifiedWallet,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const { original, opened } = await convertWallet(tx, call.deps, call, call.params.id);
        return { original_wallet: walletAnswer(original), new_wallet: walletAnswer(opened) };
      }),
  }),
];
