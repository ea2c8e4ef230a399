import type { Walker } from './client.ts';

/** A wallet that is filled in every way, read and closed. */
export async function walkWallets({ walk }: Walker, customerId: string): Promise<void> {
  const wallet = await walk('POST /wallets', (sdk) =>
    sdk.wallets.createWallet({
      customerId, currency: 'eur', name: 'Prepaid', conversionRate: '2', initialCreditsToLoad: '10',
      metadata: { a: 'b' },
    } as never),
  ); // prettier-ignore
  const id = wallet.id!;
  for (const transactionReason of ['FREE_CREDIT_GRANT', 'PURCHASED_CREDIT_INVOICED']) {
    await walk('POST /wallets/{id}/top-up', (sdk) =>
      sdk.wallets.topUpWallet(id, {
        creditsToAdd: '5', transactionReason, idempotencyKey: `walk-${transactionReason}`,
      } as never),
    ); // prettier-ignore
  }
  await walk('PUT /wallets/{id}', (sdk) =>
    sdk.wallets.updateWallet(id, { name: 'Credits' } as never),
  );
  await walk('GET /wallets/{id}', (sdk) => sdk.wallets.getWallet(id));
  await walk('GET /wallets/{id}/balance/real-time', (sdk) =>
    sdk.wallets.getWalletBalance(id, 'credits_available_breakdown'),
  );
  await walk('GET /wallets/{id}/transactions', (sdk) =>
    sdk.wallets.getWalletTransactions({ idPathParameter: id } as never),
  );
  await walk('POST /wallets/search', (sdk) => sdk.wallets.queryWallet({ limit: 10 } as never));
  // Transactions of every cause: invoices, grants, credit notes.
  await walk('POST /wallets/transactions/search', (sdk) =>
    sdk.wallets.queryWalletTransaction({
      limit: 100, expand: 'wallet,customer,created_by_user',
    } as never),
  ); // prettier-ignore
  await walk('GET /customers/wallets', (sdk) =>
    sdk.wallets.getCustomerWallets({ id: customerId, includeRealTimeBalance: true } as never),
  );
  await walk('GET /customers/{id}/wallets', (sdk) =>
    sdk.wallets.getWalletsByCustomerId(customerId),
  );
  await walk('POST /wallets/{id}/terminate', (sdk) => sdk.wallets.terminateWallet(id));
}
