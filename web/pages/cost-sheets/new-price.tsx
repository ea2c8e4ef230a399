import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { PriceEditor } from '../../app/offer/price-editor.tsx';
import { costSheetQuery } from './cost-sheet-query.ts';

/** A new price of a cost sheet. */
export function View() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const sheet = useQuery(costSheetQuery(id));
  return <PriceEditor kind="cost sheet" name={sheet.data?.name} />;
}
