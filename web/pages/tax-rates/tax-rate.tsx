import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Badge, Status } from '../../ui/badge.tsx';
import { Id } from '../../ui/code-block.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Card, Page, Section } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { formatDecimal } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';
import { TaxRateActions } from './tax-rate-actions.tsx';
import { UsesOfRate } from './uses-of-rate.tsx';

/** One tax rate: its terms, and who is taxed with it. */
export function View() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const query = useQuery({
    queryKey: ['tax-rate', id],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/taxes/rates/{id}', { params: { path: { id } }, signal })),
  });
  const rate = query.data;
  return (
    <Page
      title={<bdi>{rate?.name ?? 'Tax rate'}</bdi>}
      documentTitle={rate?.name ?? 'Tax rate'}
      crumbs={[{ label: 'Tax rates', to: '/tax-rates' }]}
      description={rate === undefined ? undefined : `${formatDecimal(rate.percentage_value)}%`}
      actions={rate === undefined ? undefined : <TaxRateActions rate={rate} />}
    >
      <Loaded query={query} what="the tax rate">
        {(data) => <Terms rate={data} />}
      </Loaded>
      <Section title="Assigned to" isHidden={query.isPending}>
        <UsesOfRate id={id} rate={rate ?? null} />
      </Section>
    </Page>
  );
}

function Terms({ rate }: { readonly rate: ApiRecord<'TaxRate'> }) {
  return (
    <Section title="Details">
      <Card>
        <Facts
          of={[
            ['Code', <code>{rate.code}</code>],
            ['Percentage', `${formatDecimal(rate.percentage_value)}%`],
            ['Status', rate.status === 'archived' ? <Badge>Archived</Badge> : <Status word={rate.tax_rate_status} />], // prettier-ignore
            ['Description', <bdi>{rate.description ?? '–'}</bdi>],
            ['Created', <Time at={rate.created_at} />],
            ['Metadata', <bdi>{Object.entries(rate.metadata).map(([k, v]) => `${k}: ${v}`).join(', ') || '–'}</bdi>], // prettier-ignore
            ['Id', <Id of={rate.id} />],
          ]}
        />
      </Card>
    </Section>
  );
}
