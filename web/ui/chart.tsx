import { useEffect, useRef, type ReactNode } from 'react';
import type uPlot from 'uplot';
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
      <TableBehind label={label} note={`Times in ${zone}`}>
        <thead>
          <tr>
            <th scope="col">Time ({zone})</th>
            {series.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times.map((time, row) => (
            <tr key={time}>
              <th scope="row">{formatTime(time, zone)}</th>
              {series.map(({ name, values }) => (
                <td key={name}>{values[row] == null ? '–' : format(values[row]!)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </TableBehind>
    </figure>
  );
}

/** The numbers of a chart as a table, collapsed at first. */
export function TableBehind({
  label,
  note,
  children,
}: {
  readonly label: string;
  /** What is said about the picture, at the end of its last line. */
  readonly note?: string;
  readonly children: ReactNode;
}) {
  return (
    <details className={styles.behind}>
      <summary>
        Show as a table {note === undefined ? null : <span className={styles.note}>{note}</span>}
      </summary>
      <div className={styles.scroll} tabIndex={0} role="region" aria-label={`${label}, table`}>
        <table>
          <caption className="visually-hidden">{label}</caption>
          {children}
        </table>
      </div>
    </details>
  );
}
