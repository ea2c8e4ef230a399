import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { rateOf } from '../../app/billing/rate-of.ts';
import { grantOf } from '../../app/billing/grant-of.ts';
import { Allowed, useMay } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Id } from '../../ui/code-block.tsx';
import { PlainTable } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Card, Page, Row, Section, Stack } from '../../ui/page.tsx';
import { EmptyState, Loaded } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { Day, Time } from '../../ui/time.tsx';
import { useUrlState } from '../../ui/url-state.ts';
import { Calculator } from './calculator.tsx';
import { GrantForm } from './grant-form.tsx';
import { NewVersion } from './new-version.tsx';
import { PriceSync } from './price-sync.tsx';

type Plan = ApiRecord<'Plan'>;
type Price = ApiRecord<'Price'>;

const STATE = { price: '', version: '' };

/** One plan: its prices, each with a calculator, and what it grants. */
export function View() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const query = useQuery({
    queryKey: ['plan', id],
    queryFn: ({ signal }) =>
      answerOf(
        api.GET('/plans/{id}', {
          params: { path: { id }, query: { expand: 'price_sync_status' } },
          signal,
        }),
      ),
  });
  return (
    <Page
      title={<bdi>{query.data?.name ?? 'Plan'}</bdi>}
      documentTitle={query.data?.name ?? 'Plan'}
      crumbs={[{ label: 'Plans', to: '/plans' }]}
      description={query.data?.description ?? undefined}
      actions={
        <Allowed to="price:write">
          <ButtonLink
            to={`/plans/${id}/prices/new`}
            tone="primary"
            icon={<Plus size={14} aria-hidden />}
          >
            Add price
          </ButtonLink>
        </Allowed>
      }
    >
      <Loaded query={query} what="the plan">
        {(plan) => <Content plan={plan} />}
      </Loaded>
    </Page>
  );
}

function Content({ plan }: { readonly plan: Plan }) {
  const [state, setState] = useUrlState(STATE);
  const [isGranting, setGranting] = useState(false);
  const mayWrite = useMay('price:write');
  const prices = plan.prices ?? [];
  const entitlements = plan.entitlements ?? [];
  const versioned = prices.find(({ id }) => id === state.version) ?? null;
  const chosen = prices.find(({ id }) => id === state.price) ?? null;
  const grant = (
    <Allowed to="entitlement:write">
      <Button small onPress={() => setGranting(true)}>
        Add entitlement
      </Button>
    </Allowed>
  );
  return (
    <Stack>
      <Section title="Prices">
        {prices.length === 0 ? (
          <EmptyState
            title="No prices yet"
            action={
              <Allowed to="price:write">
                <ButtonLink to={`/plans/${plan.id}/prices/new`} tone="primary">
                  Add price
                </ButtonLink>
              </Allowed>
            }
          >
            A fixed price is charged for each period. A usage price is charged for metered usage.
          </EmptyState>
        ) : (
          <PlainTable
            label="List of prices"
            rows={prices}
            columns={[
              { header: 'Price', cell: (row) => <bdi>{nameOf(row)}</bdi> },
              { header: 'Type', wideOnly: true, cell: ({ type }) => formatWord(type) },
              { header: 'Model', wideOnly: true, cell: modelOf },
              { header: 'Rate', cell: rateOf },
              { header: 'Billing timing', wideOnly: true, cell: (row) => `${formatWord(row.billing_period)}, ${row.invoice_cadence === 'ADVANCE' ? 'in advance' : 'in arrears'}` }, // prettier-ignore
              { header: 'From', wideOnly: true, cell: ({ start_date }) => <Day at={start_date} /> },
              {
                header: 'To',
                wideOnly: true,
                cell: ({ end_date }) => (end_date === null ? '–' : <Day at={end_date} />),
              },
              ...(mayWrite
                ? [
                    {
                      header: 'Version',
                      align: 'end' as const,
                      cell: (row: Price) =>
                        row.end_date === null && row.price_unit_type === 'FIAT' ? (
                          <Button
                            small
                            aria-label={`New version of ${nameOf(row)}`}
                            onPress={() => setState({ version: row.id })}
                          >
                            New version
                          </Button>
                        ) : (
                          '–'
                        ),
                    },
                  ]
                : []),
              {
                header: 'Calculator',
                align: 'end',
                cell: (row) => (
                  <Link
                    to="."
                    search={{ price: row.id } as never}
                    replace
                    resetScroll={false}
                    aria-label={`Calculate ${nameOf(row)}`}
                  >
                    Calculate
                  </Link>
                ),
              },
            ]}
          />
        )}
      </Section>
      <PriceSync plan={plan} />
      <Section title="Entitlements" actions={entitlements.length === 0 ? null : grant}>
        {entitlements.length === 0 ? (
          <EmptyState title="No entitlements yet" action={grant}>
            An entitlement gives subscribers of the plan a feature, with or without an included
            quantity.
          </EmptyState>
        ) : (
          <PlainTable
            label="List of entitlements"
            rows={entitlements}
            columns={[
              { header: 'Feature', cell: (row) => <bdi>{row.feature?.name ?? row.feature_id}</bdi> }, // prettier-ignore
              { header: 'Type', cell: (row) => formatWord(row.feature_type) },
              { header: 'Value', align: 'end', cell: grantOf },
            ]}
          />
        )}
      </Section>
      <Section title="Details">
        <Card>
          <Facts
            of={[
              ['Id', <Id of={plan.id} />],
              ['Lookup key', plan.lookup_key],
              ['Created', <Time at={plan.created_at} />],
            ]}
          />
        </Card>
      </Section>
      <Row>
        <ButtonLink to="/subscriptions" search={{ plan_id: plan.id } as never} small>
          Subscriptions of the plan
        </ButtonLink>
      </Row>
      <Dialog
        title={versioned === null ? 'New version' : `New version of ${nameOf(versioned)}`}
        isOpen={versioned !== null}
        onClose={() => setState({ version: '' })}
        isWide
      >
        {versioned === null ? null : (
          <NewVersion price={versioned} onDone={() => setState({ version: '' })} />
        )}
      </Dialog>
      <Dialog title="Add entitlement" isOpen={isGranting} onClose={() => setGranting(false)}>
        <GrantForm plan={plan} onDone={() => setGranting(false)} />
      </Dialog>
      <Dialog
        title={chosen === null ? 'Calculator' : `What ${nameOf(chosen)} costs`}
        isOpen={chosen !== null}
        onClose={() => setState({ price: '' })}
        isWide
      >
        {chosen === null ? null : <Calculator of={{ price_id: chosen.id }} />}
      </Dialog>
    </Stack>
  );
}

const nameOf = (price: Price): string =>
  price.display_name ?? price.meter?.name ?? formatWord(price.type);

const modelOf = ({ billing_model, tier_mode }: Price): string =>
  billing_model === 'TIERED'
    ? tier_mode === 'VOLUME'
      ? 'Tiered by volume'
      : 'Tiered by slab'
    : billing_model === 'PACKAGE'
      ? 'Package'
      : 'Flat';
