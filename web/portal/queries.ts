import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { answerOf, type ApiRecord } from '../client/api.ts';
import { portalApi } from '../client/portal-api.ts';

/** Page of a list as the portal's routes take it: pages begin at 1. */
const pageOf = ({ limit, offset }: { readonly limit: number; readonly offset: number }) => ({
  limit,
  page: Math.floor(offset / limit) + 1,
});

type Paging = Parameters<typeof pageOf>[0];

/** Subscriptions that are asked for at once where the page has no pager. */
const ALL = { limit: 100, offset: 0 };

export const subscriptionsQuery = (paging: Paging = ALL) =>
  queryOptions({
    queryKey: ['subscriptions', paging],
    queryFn: ({ signal }) =>
      answerOf(portalApi.POST('/customer/portal/subscriptions', { body: pageOf(paging), signal })),
    placeholderData: keepPreviousData,
  });

export const subscriptionQuery = (id: string) =>
  queryOptions({
    queryKey: ['subscription', id],
    queryFn: ({ signal }) =>
      answerOf(
        portalApi.GET('/customer/portal/subscriptions/{id}', { params: { path: { id } }, signal }),
      ),
  });

export const nextInvoiceQuery = (id: string) =>
  queryOptions({
    queryKey: ['next-invoice', id],
    queryFn: ({ signal }) =>
      answerOf(
        portalApi.GET('/customer/portal/subscriptions/{id}/next-invoice', {
          params: { path: { id } },
          signal,
        }),
      ),
  });

export const invoicesQuery = (paging: Paging) =>
  queryOptions({
    queryKey: ['invoices', paging],
    queryFn: ({ signal }) =>
      answerOf(portalApi.POST('/customer/portal/invoices', { body: pageOf(paging), signal })),
    placeholderData: keepPreviousData,
  });

export const owedQuery = () =>
  queryOptions({
    queryKey: ['owed'],
    queryFn: ({ signal }) =>
      answerOf(portalApi.GET('/customer/portal/invoices/summary', { signal })),
  });

export const invoiceQuery = (id: string) =>
  queryOptions({
    queryKey: ['invoice', id],
    queryFn: ({ signal }) =>
      answerOf(
        portalApi.GET('/customer/portal/invoices/{id}', { params: { path: { id } }, signal }),
      ),
  });

/** The address of the invoice's file on this origin, valid for one hour. */
export const invoiceFileQuery = (id: string) =>
  queryOptions({
    queryKey: ['invoice-file', id],
    queryFn: ({ signal }) =>
      answerOf(
        portalApi.GET('/customer/portal/invoices/{id}/pdf', { params: { path: { id } }, signal }),
      ).then(({ presigned_url }) => new URL(presigned_url).pathname),
  });

export const walletsQuery = () =>
  queryOptions({
    queryKey: ['wallets'],
    queryFn: ({ signal }) => answerOf(portalApi.POST('/customer/portal/wallets', { signal })),
  });

export const walletQuery = (id: string) =>
  queryOptions({
    queryKey: ['wallet', id],
    queryFn: ({ signal }) =>
      answerOf(
        portalApi.GET('/customer/portal/wallets/{id}', { params: { path: { id } }, signal }),
      ),
  });

export const transactionsQuery = (id: string, query: Paging) =>
  queryOptions({
    queryKey: ['transactions', id, query],
    queryFn: ({ signal }) =>
      answerOf(
        portalApi.GET('/customer/portal/wallets/{id}/transactions', {
          params: { path: { id }, query },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });

export const methodsQuery = () =>
  queryOptions({
    queryKey: ['payment-methods'],
    queryFn: ({ signal }) =>
      answerOf(
        portalApi.GET('/customer/portal/payment-methods', {
          params: { query: { limit: 100 } },
          signal,
        }),
      ),
  });

export const gatewaysQuery = () =>
  queryOptions({
    queryKey: ['gateways'],
    queryFn: ({ signal }) => answerOf(portalApi.GET('/customer/portal/integrations', { signal })),
  });

export const entitlementsQuery = () =>
  queryOptions({
    queryKey: ['entitlements'],
    queryFn: ({ signal }) => answerOf(portalApi.GET('/customer/portal/usage', { signal })),
  });

export type Invoice = ApiRecord<'Invoice'>;
export type Subscription = ApiRecord<'Subscription'>;
export type Wallet = ApiRecord<'WalletBalance'>;
export type Method = ApiRecord<'PortalPaymentMethod'>;
export type Session = ApiRecord<'CheckoutSession'>;
