import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { rateWithPeriod } from '../../app/offer/rate-with-period.ts';
import { RemovePart } from '../../app/offer/remove-part.tsx';
import { Allowed, useMay } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useListState } from '../../ui/list-state.ts';
import { Row, Stack } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { AddPrice } from './add-price.tsx';
import { setGroup } from './set-group.ts';

type Price = ApiRecord<'Price'>;

/** The prices in force of a group, with their plan, addon or subscription. A price is in one group at most. */
export function PricesOfGroup({
  groupId,
  isOpen,
}: {
  readonly groupId: string;
  /** False: it is archived, nothing is added to it. */
  readonly isOpen: boolean;
}) {
  const [isAdding, setAdding] = useState(false);
  const list = useListState({});
  const mayWrite = useMay('price:write');
  const query = useQuery({
    queryKey: ['price-group', groupId, 'prices', list.paging],
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/prices/search', {
          body: {
            ...list.paging,
            expand: ['meters', 'plan', 'addons'],
            filters: [{ field: 'group_id', operator: 'eq', value: { string: groupId } }],
          },
          signal,
        }),
      ),
  });
  const add = isOpen ? (
    <Allowed to="price:write">
      <Button onPress={() => setAdding(true)}>Add price</Button>
    </Allowed>
  ) : null;
  return (
    <Stack>
      <DataTable
        label="Prices of the group"
        query={query}
        list={list}
        columns={[...COLUMNS, ...(mayWrite ? [REMOVE] : [])]}
        empty={
          <EmptyState title="No price in the group" action={add}>
            Spend alerts of this group count nothing until it has a usage price.
          </EmptyState>
        }
      />
      {query.data === undefined || query.data.items.length === 0 ? null : <Row>{add}</Row>}
      <Dialog title="Add price" isOpen={isAdding} onClose={() => setAdding(false)}>
        <AddPrice groupId={groupId} onDone={() => setAdding(false)} />
      </Dialog>
    </Stack>
  );
}

const COLUMNS: readonly Column<Price>[] = [
  { header: 'Price', cell: (row) => <bdi>{nameOf(row)}</bdi> },
  { header: 'Part of', cell: (row) => <Owner of={row} /> },
  { header: 'Type', wideOnly: true, cell: ({ type }) => formatWord(type) },
  { header: 'Rate', align: 'end', cell: rateWithPeriod },
];

const REMOVE: Column<Price> = {
  header: 'Actions',
  align: 'end',
  cell: (row) => (
    <RemovePart
      verb="Remove"
      noun="price"
      name={nameOf(row)}
      done="Price removed"
      onConfirm={() => setGroup(row.id, null)}
    >
      <p>The price stays as it is. Spend alerts of the group do not count its usage any more.</p>
    </RemovePart>
  ),
};

const nameOf = (price: Price): string =>
  price.display_name ?? price.meter?.name ?? formatWord(price.type);

/** The part of the address before the id of what a price is of. */
const PAGES: Partial<Record<Price['entity_type'], string>> = {
  PLAN: '/plans',
  ADDON: '/addons',
  SUBSCRIPTION: '/subscriptions',
  COSTSHEET: '/cost-sheets',
};

function Owner({ of: { plan, addon, entity_type, entity_id } }: { readonly of: Price }) {
  const page = PAGES[entity_type];
  const name = <bdi>{plan?.name ?? addon?.name ?? formatWord(entity_type)}</bdi>;
  return page === undefined ? name : <Link to={`${page}/${entity_id}`}>{name}</Link>;
}
