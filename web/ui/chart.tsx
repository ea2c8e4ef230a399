import { useEffect, useRef } from 'react';
import type uPlot from 'uplot';
import { ChartTable } from './chart-table.tsx';
import type { Series } from './series.ts';
import { formatDecimal, formatMoney, formatTime } from './text.ts';
import styles from './chart.module.css';

const HEIGHT_PX = 200;

/** Values over time. A table with the exact values follows, for screen readers and for copying. */
export function TimeChart({
  label,
  times,
  series,
  zone = 'UTC',
  kind = 'line',
  currency = '',
}: {
  readonly label: string;
  readonly times: readonly string[];
  readonly series: readonly Series[];
  readonly zone?: string;
  readonly kind?: 'line' | 'bars';
  /** Of values that are money. */
  readonly currency?: string;
}) {
  const format = (value: string): string =>
    currency === '' ? formatDecimal(value) : formatMoney(value, currency);
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    let plot: uPlot | null = null;
    let isGone = false;
    const draw = async (): Promise<void> => {
      const { drawTimes } = await import('./draw-times.ts');
      if (isGone) return;
      plot?.destroy();
      plot = drawTimes(element, { times, series, zone, kind, currency, heightPx: HEIGHT_PX });
    };
    const redraw = (): void => void draw();
    const resized = new ResizeObserver(([entry]) =>
      plot?.setSize({ width: entry!.contentRect.width, height: HEIGHT_PX }),
    );
    redraw();
    resized.observe(element);
    addEventListener('themechange', redraw);
    return () => {
      isGone = true;
      resized.disconnect();
      removeEventListener('themechange', redraw);
      plot?.destroy();
    };
  }, [times, series, zone, kind, currency]);
  return (
    <figure className={styles.figure} aria-label={label}>
      {series.length < 2 ? null : (
        <ul className={styles.legend}>
          {series.map(({ name }, index) => (
            <li key={name}>
              <span className={styles.swatch} data-series={(index % 6) + 1} />
              {name}
            </li>
          ))}
        </ul>
      )}
      <div ref={frame} className={styles.canvas} aria-hidden="true" />
      <ChartTable
        label={label}
        note={`Times in ${zone}`}
        head={
          <>
            <th scope="col">Time ({zone})</th>
            {series.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </>
        }
        count={times.length}
        row={(index) => (
          <>
            <th scope="row">{formatTime(times[index]!, zone)}</th>
            {series.map(({ name, values }) => (
              <td key={name}>{values[index] == null ? '–' : format(values[index]!)}</td>
            ))}
          </>
        )}
      />
    </figure>
  );
}
