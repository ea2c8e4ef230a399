import { queryOptions } from '@tanstack/react-query';
import { answerOf, api } from '../../client/api.ts';

/** The query of one cost sheet with its prices. */
export const costSheetQuery = (id: string) =>
  queryOptions({
    queryKey: ['cost-sheet', id],
    queryFn: ({ signal }) => answerOf(api.GET('/costs/{id}', { params: { path: { id } }, signal })),
  });
