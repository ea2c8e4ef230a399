import { Allowed, useMay } from '../person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { PlainTable, type Column } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Row, Section } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { Day, LastDay } from '../../ui/time.tsx';
import { useUrlState } from '../../ui/url-state.ts';
import { Calculator } from './calculator.tsx';
import { NewVersion } from './new-version.tsx';
import { LIST, type Priced } from './offer.ts';
import { rateWithPeriod } from './rate-with-period.ts';
import { RemovePart } from './remove-part.tsx';

type Price = ApiRecord<'Price'>;

/** The price in the calculator, and the one that gets a new version. */
const STATE = { price: '', version: '' };

/** The prices of an offer: each with a calculator, and with a form for its next version. */
export function Prices({ offer }: { readonly offer: Priced }) {
  const [state, setState] = useUrlState(STATE);
  const mayWrite = useMay('price:write');
  const { prices } = offer;
  const versioned = prices.find(({ id }) => id === state.version) ?? null;
  const chosen = prices.find(({ id }) => id === state.price) ?? null;
  return (
    <Section title="Prices">
      {prices.length === 0 ? (
        <EmptyState title="No prices yet" action={<AddPrice offer={offer} />}>
          {offer.kind === 'cost sheet'
            ? 'A price of a cost sheet is what metered usage costs you.'
            : 'A fixed price is charged for each period. A usage price is charged for metered usage.'}
        </EmptyState>
      ) : (
        <PlainTable
          label="List of prices"
          rows={prices}
          columns={[
            ...COLUMNS,
            actionsColumn(offer, mayWrite && offer.isOpen, (version) => setState({ version })),
          ]}
        />
      )}
      <Dialog
        title={versioned === null ? 'New version' : `New version of ${nameOf(versioned)}`}
        isOpen={versioned !== null}
        onClose={() => setState({ version: '' })}
        isWide
      >
        {versioned === null ? null : (
          <NewVersion
            price={versioned}
            kind={offer.kind}
            onDone={() => setState({ version: '' })}
          />
        )}
      </Dialog>
      <Dialog
        title={chosen === null ? 'Calculator' : `What ${nameOf(chosen)} costs`}
        isOpen={chosen !== null}
        onClose={() => setState({ price: '' })}
        isWide
      >
        {chosen === null ? null : <Calculator of={{ price_id: chosen.id }} />}
      </Dialog>
    </Section>
  );
}

/** The link to the editor of a new price. */
export function AddPrice({ offer }: { readonly offer: Pick<Priced, 'kind' | 'id' | 'isOpen'> }) {
  if (!offer.isOpen) return null;
  return (
    <Allowed to="price:write">
      <ButtonLink to={`${LIST[offer.kind]}/${offer.id}/prices/new`} tone="primary">
        Add price
      </ButtonLink>
    </Allowed>
  );
}

const COLUMNS: readonly Column<Price>[] = [
  { header: 'Price', cell: (row) => <bdi>{nameOf(row)}</bdi> },
  { header: 'Type', wideOnly: true, cell: ({ type }) => formatWord(type) },
  { header: 'Model', wideOnly: true, cell: modelOf },
  { header: 'Rate', align: 'end', cell: rateWithPeriod },
  { header: 'Billing timing', wideOnly: true, cell: (row) => `${formatWord(row.billing_period)}, ${row.invoice_cadence === 'ADVANCE' ? 'in advance' : 'in arrears'}` }, // prettier-ignore
  { header: 'First day', wideOnly: true, cell: ({ start_date }) => <Day at={start_date} /> },
  { header: 'Last day', wideOnly: true, cell: ({ end_date }) => <LastDay end={end_date} /> },
];

/** Every price has a calculator; one that may change and has no end, a next version and an end too. */
const actionsColumn = (
  { kind }: Pick<Priced, 'kind'>,
  mayChange: boolean,
  onVersion: (id: string) => void,
): Column<Price> => ({
  header: 'Actions',
  align: 'end',
  cell: (row) => (
    <Row>
      <ButtonLink
        small
        to="."
        search={{ price: row.id } as never}
        replace
        resetScroll={false}
        aria-label={`Calculate ${nameOf(row)}`}
      >
        Calculate
      </ButtonLink>
      {mayChange && row.end_date === null ? (
        <>
          {row.price_unit_type === 'FIAT' ? (
            <Button
              small
              aria-label={`New version of ${nameOf(row)}`}
              onPress={() => onVersion(row.id)}
            >
              New version
            </Button>
          ) : null}
          <RemovePart
            verb="End"
            noun="price"
            name={nameOf(row)}
            done="Price ended"
            onConfirm={() =>
              answerOf(
                api.DELETE('/prices/{id}', { params: { path: { id: row.id } }, body: {} as never }),
              )
            }
          >
            <p>{ENDED[kind]}</p>
          </RemovePart>
        </>
      ) : null}
    </Row>
  ),
});

/** What follows from the end of a price. */
const ENDED: Readonly<Record<Priced['kind'], string>> = {
  plan: 'New subscriptions do not get this price from now on. Running subscriptions keep it until the prices of the plan are synced.',
  addon: 'New subscriptions do not get this price from now on. Running subscriptions keep it.',
  'cost sheet': 'Usage from now on has no cost by this price.',
};

const nameOf = (price: Price): string =>
  price.display_name ?? price.meter?.name ?? formatWord(price.type);

function modelOf({ billing_model, tier_mode }: Price): string {
  if (billing_model === 'PACKAGE') return 'Package';
  if (billing_model !== 'TIERED') return 'Flat';
  return tier_mode === 'VOLUME' ? 'Tiered by volume' : 'Tiered by slab';
}
