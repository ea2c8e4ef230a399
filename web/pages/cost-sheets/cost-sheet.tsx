import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { Priced } from '../../app/offer/offer.ts';
import { AddPrice, Prices } from '../../app/offer/prices.tsx';
import { Status } from '../../ui/badge.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { Id } from '../../ui/code-block.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Card, Page, Row, Section, Stack } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { Time } from '../../ui/time.tsx';
import type { ApiRecord } from '../../client/api.ts';
import { CostSheetActions } from './cost-sheet-actions.tsx';
import { costSheetQuery } from './cost-sheet-query.ts';

/** One cost sheet: what usage costs by it. */
export function View() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const query = useQuery(costSheetQuery(id));
  const sheet = query.data;
  return (
    <Page
      title={<bdi>{sheet?.name ?? 'Cost sheet'}</bdi>}
      documentTitle={sheet?.name ?? 'Cost sheet'}
      crumbs={[{ label: 'Cost sheets', to: '/cost-sheets' }]}
      description={sheet?.description ?? undefined}
      actions={
        sheet?.status !== 'published' ? undefined : (
          <>
            <CostSheetActions sheet={sheet} />
            <AddPrice offer={pricedOf(sheet)} />
          </>
        )
      }
    >
      <Loaded query={query} what="the cost sheet">
        {(found) => (
          <Stack>
            <Prices offer={pricedOf(found)} />
            <Section title="Details">
              <Card>
                <Facts
                  of={[
                    ['Lookup key', found.lookup_key],
                    ['Status', <Status key="status" word={found.status} />],
                    ['Created', <Time key="created" at={found.created_at} />],
                    ['Id', <Id key="id" of={found.id} />],
                  ]}
                />
              </Card>
            </Section>
            <Row>
              <ButtonLink to="/analytics" small>
                Margin in analytics
              </ButtonLink>
            </Row>
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}

const pricedOf = ({ id, status, prices }: ApiRecord<'Costsheet'>): Priced => ({
  kind: 'cost sheet',
  id,
  isOpen: status === 'published',
  prices: prices ?? [],
});
