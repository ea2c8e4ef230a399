import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { PriceEditor } from '../../app/offer/price-editor.tsx';
import { answerOf, api } from '../../client/api.ts';

/** A new price of an addon. */
export function View() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const addon = useQuery({
    queryKey: ['addon', id],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/addons/{id}', { params: { path: { id } }, signal })),
  });
  return <PriceEditor kind="addon" name={addon.data?.name} />;
}
