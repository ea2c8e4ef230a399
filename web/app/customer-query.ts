import { queryOptions } from '@tanstack/react-query';
import { answerOf, api } from '../client/api.ts';

/** The query of one customer by its id; pages that show the same customer share its answer. */
export const customerQuery = (id: string) =>
  queryOptions({
    queryKey: ['customer', id],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/customers/{id}', { params: { path: { id } }, signal })),
  });
