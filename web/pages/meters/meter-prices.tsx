import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { rateOf } from '../../app/billing/rate-of.ts';
import { useMay } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { PlainTable, type Column } from '../../ui/data-table.tsx';
import { Stack } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';

const PRICES_SHOWN = 20;
/** A company has one cost sheet or a few; a later one is shown without its name. */
const SHEETS_NAMED = 200;

/** The prices that charge what the meter counts, each with a link to its plan, addon, subscription or cost sheet. */
export function MeterPrices({ meterId }: { readonly meterId: string }) {
  const mayReadSheets = useMay('costsheet:read');
  const query = useQuery({
    queryKey: ['meter', meterId, 'prices'],
    queryFn: async ({ signal }) => {
      const body = {
        ...{ meter_ids: [meterId], limit: PRICES_SHOWN },
        expand: ['plan' as const, 'addons' as const],
      };
      const [page, sheets] = await Promise.all([
        answerOf(api.POST('/prices/search', { body, signal })),
        mayReadSheets ? sheetNames(signal) : new Map<string, string>(),
      ]);
      const items = page.items.map((price): Row => ({
        ...price,
        sheet: sheets.get(price.entity_id) ?? null,
      }));
      return { ...page, items };
    },
  });
  return (
    <Loaded query={query} what="the prices of the meter">
      {({ items, pagination: { total } }) =>
        total === 0 ? (
          <p>No price uses this meter.</p>
        ) : (
          <Stack>
            <p>{total === 1 ? '1 price uses' : `${total} prices use`} this meter:</p>
            <PlainTable label="Prices of the meter" rows={items} columns={COLUMNS} />
          </Stack>
        )
      }
    </Loaded>
  );
}

type Price = ApiRecord<'Price'>;

interface Row extends Price {
  /** Name of the cost sheet that the price is of. */
  readonly sheet: string | null;
}

/** The names of cost sheets, by id: answers about prices do not have them. Asked for at the same time. */
async function sheetNames(signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const { items } = await answerOf(
    api.POST('/costs/search', { body: { limit: SHEETS_NAMED }, signal }),
  );
  return new Map(items.map(({ id, name }) => [id, name]));
}

const COLUMNS: readonly Column<Row>[] = [
  { header: 'Used by', cell: (price) => <Owner price={price} /> },
  { header: 'Price', cell: ({ display_name }) => <bdi>{display_name || 'Usage'}</bdi> },
  { header: 'Rate', align: 'end', cell: (price) => rateOf(price) },
  { header: 'Billed', cell: ({ billing_period }) => formatWord(billing_period) },
];

function Owner({ price: { entity_type, entity_id, plan, addon, sheet } }: { readonly price: Row }) {
  if (entity_type === 'PLAN')
    return (
      <Link to={`/plans/${entity_id}`}>
        <bdi>{plan?.name ?? 'Plan'}</bdi>
      </Link>
    );
  if (entity_type === 'SUBSCRIPTION')
    return <Link to={`/subscriptions/${entity_id}`}>Subscription</Link>;
  if (entity_type === 'ADDON')
    return (
      <Link to={`/addons/${entity_id}`}>
        <bdi>{addon?.name ?? 'Addon'}</bdi>
      </Link>
    );
  if (entity_type === 'COSTSHEET')
    return (
      <Link to={`/cost-sheets/${entity_id}`}>
        <bdi>{sheet ?? 'Cost sheet'}</bdi>
      </Link>
    );
  return <>{formatWord(entity_type)}</>;
}
