import { useQuery } from '@tanstack/react-query';
import { answerOf, api } from '../../client/api.ts';

const SHOWN = 1000;

/** The addons of a subscription that have not ended, with their names. */
export const useAddonsOf = (id: string) =>
  useQuery({
    queryKey: ['subscription', id, 'addons'],
    queryFn: ({ signal }) =>
      answerOf(
        api.GET('/subscriptions/{id}/addons/associations', {
          params: { path: { id }, query: { limit: SHOWN } },
          signal,
        }),
      ),
  });
