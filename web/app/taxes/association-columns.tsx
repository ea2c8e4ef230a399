import type { ApiRecord } from '../../client/api.ts';
import type { Column } from '../../ui/data-table.tsx';
import { formatCurrency } from '../../ui/text.ts';
import { Day, LastDay } from '../../ui/time.tsx';

type Association = ApiRecord<'TaxAssociation'>;

/** The terms of an association, in the zone of who is taxed. */
export const associationColumns = (zone: string): readonly Column<Association>[] => [
  {
    header: 'Tax',
    cell: ({ auto_apply, tax_behavior }) =>
      !auto_apply ? 'Off' : tax_behavior === 'inclusive' ? 'Included in prices' : 'Added to prices',
  },
  {
    header: 'Currency',
    wideOnly: true,
    cell: ({ currency }) => (currency === null ? 'All' : formatCurrency(currency)),
  },
  { header: 'Priority', wideOnly: true, align: 'end', cell: ({ priority }) => priority },
  {
    header: 'First day',
    wideOnly: true,
    cell: ({ start_date }) => <Day at={start_date} zone={zone} />,
  },
  {
    header: 'Last day',
    wideOnly: true,
    cell: ({ end_date }) => <LastDay end={end_date} zone={zone} />,
  },
];
