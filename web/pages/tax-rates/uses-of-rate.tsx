import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useSubscriptionNames } from '../../app/billing/subscription-name.tsx';
import { useCustomerNames } from '../../app/customer-names.tsx';
import { NamedLink } from '../../app/names.tsx';
import { useMay } from '../../app/person.tsx';
import { AssignTax } from '../../app/taxes/assign-tax.tsx';
import { AssociationActions } from '../../app/taxes/association-actions.tsx';
import { associationColumns } from '../../app/taxes/association-columns.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { useListState } from '../../ui/list-state.ts';
import { Row, Stack } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/query-state.tsx';

type Association = ApiRecord<'TaxAssociation'>;

const EVERYONE = 'Everyone';

/** Who is taxed with the rate, page by page. */
export function UsesOfRate({
  id,
  rate,
}: {
  readonly id: string;
  /** Null until it is known. */
  readonly rate: ApiRecord<'TaxRate'> | null;
}) {
  const list = useListState({});
  const mayWrite = useMay('tax:write');
  const query = useQuery({
    queryKey: ['tax-rate', id, 'uses', list.paging],
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/taxes/associations/search', {
          body: { ...list.paging, tax_rate_id: id },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });
  const rows = query.data?.items ?? [];
  const idsOf = (type: Association['entity_type']) =>
    rows.filter((row) => row.entity_type === type).map((row) => row.entity_id);
  const customers = useCustomerNames(idsOf('customer'));
  const subscriptions = useSubscriptionNames(idsOf('subscription'));
  const nameOf = ({ entity_type, entity_id }: Association): string =>
    entity_type === 'tenant'
      ? EVERYONE
      : (customers.get(entity_id) ?? subscriptions.get(entity_id) ?? entity_id);
  const assign =
    rate?.status === 'published' ? <AssignTax code={rate.code} zone="UTC" /> : undefined;
  return (
    <Stack>
      <DataTable
        label="Assigned to"
        query={query}
        list={list}
        columns={[
          {
            header: 'For',
            cell: (row) =>
              row.entity_type === 'tenant' ? (
                EVERYONE
              ) : (
                <NamedLink
                  to={`/${row.entity_type}s/${row.entity_id}`}
                  id={row.entity_id}
                  names={row.entity_type === 'customer' ? customers : subscriptions}
                />
              ),
          },
          ...associationColumns('UTC'),
          ...(mayWrite
            ? [
                {
                  header: 'Actions',
                  align: 'end' as const,
                  cell: (row: Association) => (
                    <AssociationActions association={row} name={nameOf(row)} />
                  ),
                },
              ]
            : []),
        ]}
        empty={
          <EmptyState title="Nobody is taxed with it" action={assign}>
            Assign it to everyone or to a customer; to a subscription on its page.
          </EmptyState>
        }
      />
      {rows.length === 0 ? null : <Row>{assign}</Row>}
    </Stack>
  );
}
