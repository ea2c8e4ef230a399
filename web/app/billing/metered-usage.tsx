import { useMemo } from 'react';
import type { ApiRecord } from '../../client/api.ts';
import { TimeChart } from '../../ui/chart.tsx';
import { PlainTable, type Column } from '../../ui/data-table.tsx';
import { fractionOf, Money, Quantity } from '../../ui/money.tsx';
import { Card, Stack } from '../../ui/page.tsx';
import { windowTimes, type AskedWindows, type WindowTimes } from '../window-times.ts';

/** Usage of each meter in the windows that were asked for, and its charge. */
export function MeteredUsage({
  usage,
  asked,
  now,
}: {
  readonly usage: ApiRecord<'UsageAnalytics'>;
  readonly asked: AskedWindows;
  readonly now: string;
}) {
  return (
    <Stack>
      <MeterCharts usage={usage} asked={asked} now={now} />
      <UsageTable usage={usage} />
    </Stack>
  );
}

/** The charts below each other have the same times, except that usage in buckets of another zone has its own. */
export function MeterCharts({
  usage: { items },
  asked,
  now,
}: {
  readonly usage: ApiRecord<'UsageAnalytics'>;
  readonly asked: AskedWindows;
  readonly now: string;
}) {
  const windows = useMemo(() => windowTimes(items, asked, now), [items, asked, now]);
  return (
    <Stack>
      {items.map((item, index) => (
        <MeterChart key={index} item={item} windows={windows} asked={asked} />
      ))}
    </Stack>
  );
}

/** What the charges beside usage are (money 19.10): an invoice has the other coupons too, rounds and adds taxes. */
export const CHARGE_NOTE =
  'after recurring percentage coupons, before other coupons and taxes; only discounts and commitments are rounded';

/** Totals of the range by meter. */
export function UsageTable({
  usage: { items, currency },
  hasCharge = true,
}: {
  readonly usage: ApiRecord<'UsageAnalytics'>;
  readonly hasCharge?: boolean;
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
      header: 'Charge',
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
  const label = hasCharge ? 'Usage and charge' : 'Usage';
  return (
    <section>
      <Stack>
        <h3>{label} by meter</h3>
        <PlainTable
          label={label}
          rows={items.map((item, index) => ({ ...item, id: String(index) }))}
          columns={columns.filter(({ header }) => hasCharge || header !== 'Charge')}
        />
        {hasCharge ? <p>Charge: {CHARGE_NOTE}.</p> : null}
      </Stack>
    </section>
  );
}

function MeterChart({
  item,
  windows,
  asked: { window_size, timezone },
}: {
  readonly item: ApiRecord<'UsageAnalyticsItem'>;
  readonly windows: WindowTimes;
  readonly asked: AskedWindows;
}) {
  const { times, series } = useMemo(() => {
    const usage = new Map((item.points ?? []).map((point) => [point.timestamp, point.usage]));
    const times = windows.times.filter((time) => usage.has(time) || windows.isOf(item, time));
    return {
      times,
      series: [{ name: item.name, values: times.map((time) => usage.get(time) ?? '0') }],
    };
  }, [item, windows]);
  return (
    <Card>
      <h3>
        <bdi>{item.name}</bdi>
      </h3>
      <TimeChart
        label={`${item.name} by ${window_size.toLowerCase()}`}
        kind="bars"
        times={times}
        series={series}
        zone={timezone}
      />
    </Card>
  );
}
