import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { CreditGrants } from '../../app/offer/credit-grants.tsx';
import { Entitlements } from '../../app/offer/entitlements.tsx';
import { offerOf } from '../../app/offer/offer.ts';
import { Prices } from '../../app/offer/prices.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { Id } from '../../ui/code-block.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Card, Page, Row, Section, Stack } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { Time } from '../../ui/time.tsx';
import { PlanActions } from './plan-actions.tsx';
import { PriceSync } from './price-sync.tsx';

type Plan = ApiRecord<'Plan'>;

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
      actions={query.data === undefined ? null : <PlanActions plan={query.data} />}
    >
      <Loaded query={query} what="the plan">
        {(plan) => <Content plan={plan} />}
      </Loaded>
    </Page>
  );
}

function Content({ plan }: { readonly plan: Plan }) {
  const offer = offerOf('plan', plan);
  return (
    <Stack>
      <Prices offer={offer} />
      <PriceSync plan={plan} />
      <Entitlements offer={offer} />
      <CreditGrants offer={offer} />
      <Section title="Details">
        <Card>
          <Facts
            of={[
              ['Id', <Id of={plan.id} />],
              ['Lookup key', plan.lookup_key],
              ['Status', <Status word={plan.status} />],
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
    </Stack>
  );
}
