import { useMemo } from 'react';
import type { ApiRecord } from '../../client/api.ts';
import { TimeChart } from '../../ui/chart.tsx';
import { PlainTable } from '../../ui/data-table.tsx';
import { Money, Quantity } from '../../ui/money.tsx';
import { Card, Stack } from '../../ui/page.tsx';

/** Usage of each meter by day, and what it costs. */
export function MeteredUsage({
  usage: { items, currency },
  zone,
}: {
  readonly usage: ApiRecord<'UsageAnalytics'>;
  readonly zone: string;
}) {
  return (
    <Stack>
      {items.map((item, index) => (
        <MeterChart key={index} item={item} zone={zone} />
      ))}
      <PlainTable
        label="Usage and cost"
        rows={items.map((item, index) => ({ ...item, id: String(index) }))}
        columns={[
          { header: 'Meter', cell: ({ name }) => <bdi>{name}</bdi> },
          {
            header: 'Usage',
            align: 'end',
            cell: ({ total_usage, unit_plural }) => (
              <Quantity value={total_usage} unit={unit_plural} />
            ),
          },
          {
            header: 'Events',
            align: 'end',
            cell: ({ event_count }) => event_count.toLocaleString('en-US'),
          },
          {
            header: 'Cost',
            align: 'end',
            cell: (item) => (
              <Money amount={item.total_cost} currency={item.currency || currency || 'usd'} />
            ),
          },
        ]}
      />
    </Stack>
  );
}

function MeterChart({
  item,
  zone,
}: {
  readonly item: ApiRecord<'UsageAnalyticsItem'>;
  readonly zone: string;
}) {
  const times = useMemo(() => (item.points ?? []).map(({ timestamp }) => timestamp), [item]);
  const series = useMemo(
    () => [{ name: item.name, values: (item.points ?? []).map(({ usage }) => usage) }],
    [item],
  );
  return (
    <Card>
      <h3>
        <bdi>{item.name}</bdi>
      </h3>
      <TimeChart
        label={`${item.name} by day`}
        kind="bars"
        times={times}
        series={series}
        zone={zone}
      />
    </Card>
  );
}
