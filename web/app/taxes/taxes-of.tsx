import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Row, Section, Stack } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { formatDecimal } from '../../ui/text.ts';
import { useMay } from '../person.tsx';
import { AssignTax } from './assign-tax.tsx';
import { AssociationActions } from './association-actions.tsx';
import { associationColumns } from './association-columns.tsx';
import type { TaxedEntity } from './assign-form.tsx';

type Association = ApiRecord<'TaxAssociation'>;

const SHOWN = 100;

/** The taxes that a customer or a subscription has of its own. */
export function TaxesOf({
  entity,
  zone,
  children,
}: {
  readonly entity: TaxedEntity;
  readonly zone: string;
  /** Which taxes it has without one of its own. */
  readonly children: ReactNode;
}) {
  const mayRead = useMay('tax:read');
  const mayWrite = useMay('tax:write');
  const query = useQuery({
    queryKey: ['taxes-of', entity],
    enabled: mayRead,
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/taxes/associations/search', {
          body: { ...entity, expand: ['tax_rate'], limit: SHOWN },
          signal,
        }),
      ),
  });
  if (!mayRead) return null;
  const assign = <AssignTax entity={entity} zone={zone} />;
  return (
    <Section title="Taxes">
      <Stack>
        <DataTable
          label="List of taxes"
          query={query}
          columns={[RATE, ...associationColumns(zone), ...(mayWrite ? [ACTIONS] : [])]}
          empty={
            <EmptyState title="No tax of its own" action={assign}>
              {children}
            </EmptyState>
          }
        />
        {(query.data?.items ?? []).length === 0 ? null : <Row>{assign}</Row>}
      </Stack>
    </Section>
  );
}

const nameOf = ({ tax_rate, tax_rate_id }: Association): string => tax_rate?.name ?? tax_rate_id;

const RATE: Column<Association> = {
  header: 'Rate',
  cell: (row) => (
    <Link to={`/tax-rates/${row.tax_rate_id}`}>
      <bdi>{nameOf(row)}</bdi>
      {row.tax_rate === null ? null : `, ${formatDecimal(row.tax_rate.percentage_value)}%`}
    </Link>
  ),
};

const ACTIONS: Column<Association> = {
  header: 'Actions',
  align: 'end',
  cell: (row) => <AssociationActions association={row} name={nameOf(row)} />,
};
