import { queryOptions } from '@tanstack/react-query';
import { answerOf, api } from '../../client/api.ts';

/** The query of one wallet with its balance; pages of the same wallet share its answer. */
export const walletQuery = (id: string) =>
  queryOptions({
    queryKey: ['wallet', id],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/wallets/{id}/balance/real-time', { params: { path: { id } }, signal })),
  });
