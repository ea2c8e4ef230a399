import { useMemo } from 'react';
import type { ApiRecord } from '../../client/api.ts';
import { TimeChart } from '../../ui/chart.tsx';
import { PlainTable, type Column } from '../../ui/data-table.tsx';
import { fractionOf, Money, Quantity } from '../../ui/money.tsx';
import { Card, Stack } from '../../ui/page.tsx';

/** Usage of each meter by day, and what it costs. */
export function MeteredUsage({
  usage,
  zone,
}: {
  readonly usage: ApiRecord<'UsageAnalytics'>;
  readonly zone: string;
}) {
  return (
    <Stack>
      <MeterCharts usage={usage} zone={zone} />
      <UsageTable usage={usage} />
    </Stack>
  );
}

export function MeterCharts({
  usage: { items },
  zone,
}: {
  readonly usage: ApiRecord<'UsageAnalytics'>;
  readonly zone: string;
}) {
  const days = useMemo(() => daysOf(items), [items]);
  return (
    <Stack>
      {items.map((item, index) => (
        <MeterChart key={index} item={item} days={days} zone={zone} />
      ))}
    </Stack>
  );
}

export function UsageTable({
  usage: { items, currency },
  hasCost = true,
}: {
  readonly usage: ApiRecord<'UsageAnalytics'>;
  readonly hasCost?: boolean;
}) {
  const fraction = fractionOf(items.map(({ total_cost }) => total_cost));
  const columns: Column<ApiRecord<'UsageAnalyticsItem'>>[] = [
    { header: 'Meter', cell: ({ name }) => <bdi>{name}</bdi> },
    {
      header: 'Usage',
      align: 'end',
      cell: ({ total_usage, unit_plural }) => <Quantity value={total_usage} unit={unit_plural} />,
    },
    {
      header: 'Events',
      align: 'end',
      wideOnly: true,
      cell: ({ event_count }) => event_count.toLocaleString('en-US'),
    },
    {
      header: 'Cost',
      align: 'end',
      cell: (item) => (
        <Money
          amount={item.total_cost}
          currency={item.currency || currency || 'usd'}
          fraction={fraction}
        />
      ),
    },
  ];
  return (
    <PlainTable
      label={hasCost ? 'Usage and cost' : 'Usage'}
      rows={items.map((item, index) => ({ ...item, id: String(index) }))}
      columns={columns.filter(({ header }) => hasCost || header !== 'Cost')}
    />
  );
}

/** Each day on which a meter counted something: the charts below each other have the same days. */
const daysOf = (items: readonly ApiRecord<'UsageAnalyticsItem'>[]): readonly string[] =>
  [
    ...new Set(items.flatMap(({ points }) => (points ?? []).map(({ timestamp }) => timestamp))),
  ].sort();

function MeterChart({
  item,
  days,
  zone,
}: {
  readonly item: ApiRecord<'UsageAnalyticsItem'>;
  readonly days: readonly string[];
  readonly zone: string;
}) {
  const series = useMemo(() => {
    const usage = new Map((item.points ?? []).map((point) => [point.timestamp, point.usage]));
    return [{ name: item.name, values: days.map((day) => usage.get(day) ?? '0') }];
  }, [item, days]);
  return (
    <Card>
      <h3>
        <bdi>{item.name}</bdi>
      </h3>
      <TimeChart
        label={`${item.name} by day`}
        kind="bars"
        times={days}
        series={series}
        zone={zone}
      />
    </Card>
  );
}
