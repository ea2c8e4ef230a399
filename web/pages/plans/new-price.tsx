import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { PriceEditor } from '../../app/offer/price-editor.tsx';
import { answerOf, api } from '../../client/api.ts';

/** A new price of a plan. */
export function View() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const plan = useQuery({
    queryKey: ['plan', id],
    queryFn: ({ signal }) => answerOf(api.GET('/plans/{id}', { params: { path: { id } }, signal })),
  });
  return <PriceEditor kind="plan" name={plan.data?.name} />;
}
