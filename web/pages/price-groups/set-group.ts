import { answerOf, api } from '../../client/api.ts';

/** Puts a price into a group, or out of its group with null. The terms of the price stay. */
export const setGroup = (priceId: string, group_id: string | null) =>
  answerOf(api.PUT('/prices/{id}', { params: { path: { id: priceId } }, body: { group_id } }));
