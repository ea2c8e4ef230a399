import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { timeSteps, valueLabels } from './chart-steps.ts';
import type { Series } from './series.ts';
import { LOCALE } from './text.ts';

export interface Drawing {
  readonly times: readonly string[];
  readonly series: readonly Series[];
  readonly zone: string;
  readonly kind: 'line' | 'bars';
  /** Of values that are money; else empty. */
  readonly currency: string;
  readonly heightPx: number;
}

const FONT = '11px "Inter Variable", system-ui, sans-serif';
const BAR_WIDTH = [0.7, 48] as [number, number];

/** Draws with the colours of the present theme. In a module of its own: it is loaded with the first chart. */
export function drawTimes(element: HTMLElement, drawing: Drawing): UPlot {
  const { times, series, zone, kind, currency, heightPx } = drawing;
  const color = (name: string): string =>
    getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const axis = {
    stroke: color('muted'),
    font: FONT,
    grid: { stroke: color('line'), width: 1 },
    ticks: { show: false },
  };
  const labels = valueLabels(series.flatMap(({ values }) => values));
  const bars = UPlot.paths.bars?.({ size: BAR_WIDTH });
  return new UPlot(
    {
      width: element.clientWidth,
      height: heightPx,
      tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1000), zone),
      legend: { show: false },
      cursor: { y: false, points: { size: 6 } },
      scales: {
        x: { range: (_plot, min, max) => widened(times, min, max, kind) },
        y: { range: [labels.at[0]!, labels.at.at(-1)!] },
      },
      axes: [
        { ...axis, grid: { show: false }, values: TIME_LABELS, incrs: timeSteps(times) },
        {
          ...axis,
          size: 56,
          splits: [...labels.at],
          values: (_plot, ticks) => ticks.map(compact(currency, labels.decimals)),
        },
      ],
      series: [
        {},
        ...series.map(({ name }, index) => ({
          label: name,
          stroke: color(`series-${(index % 6) + 1}`),
          width: 1.75,
          // A value may be missing between two others, where the windows of another line begin.
          spanGaps: true,
          points: { show: times.length < 3 },
          ...(kind === 'bars' && bars !== undefined
            ? { paths: bars, fill: color(`series-${(index % 6) + 1}`), points: { show: false } }
            : {}),
        })),
      ],
    },
    [
      times.map((time) => Date.parse(time) / 1000),
      ...series.map(({ values }) =>
        // A bar without height would be a line below the axis.
        values.map((value) =>
          value === null || (kind === 'bars' && Number(value) === 0) ? null : Number(value),
        ),
      ),
    ] as UPlot.AlignedData,
    element,
  );
}

const DAY_SECONDS = 86_400;

/**
 * Labels of times by the distance between them: the label, and below it what has changed since the one before
 * (year, day, minute). As everywhere: 24 hours, the day before the month.
 */
const TIME_LABELS: UPlot.Axis.Values = [
  [DAY_SECONDS * 365, '{YYYY}', null, null, null, null, null, null, 1],
  [DAY_SECONDS * 28, '{MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [DAY_SECONDS, '{D} {MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [60, '{HH}:{mm}', '\n{D} {MMM} {YYYY}', null, '\n{D} {MMM}', null, null, null, 1],
  [1, '{HH}:{mm}:{ss}', '\n{D} {MMM} {YYYY}', null, '\n{D} {MMM}', null, null, null, 1],
];

/** Room for the first and the last bar; a single time stands in the middle of two days. */
function widened(
  times: readonly string[],
  min: number,
  max: number,
  kind: Drawing['kind'],
): [number, number] {
  if (times.length === 1) {
    // The library would make an axis of three years.
    const at = Date.parse(times[0]!) / 1000;
    return [at - DAY_SECONDS, at + DAY_SECONDS];
  }
  const margin = kind === 'bars' ? (max - min) / (times.length - 1) / 2 : 0;
  return [min - margin, max + margin];
}

/** With more decimals than these, a label is as short as its digits allow. */
const DECIMALS_MAX = 4;

/** Labels of an axis: `1.5M`, `$15K`, `$0.010`. Amounts in a custom currency have no symbol. */
function compact(currency: string, decimals: number): (value: number) => string {
  const short: Intl.NumberFormatOptions =
    decimals === 0 || decimals > DECIMALS_MAX
      ? { notation: 'compact', maximumSignificantDigits: 3 }
      : { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  try {
    return new Intl.NumberFormat(LOCALE, {
      ...short,
      ...(currency === ''
        ? {}
        : { style: 'currency', currency, currencyDisplay: 'narrowSymbol' as const }),
    }).format;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return new Intl.NumberFormat(LOCALE, short).format;
  }
}
