import { useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import styles from './chart.module.css';

/** A table with up to this many rows is in the page as a whole, so that it can be selected and searched. */
const WHOLE_ROWS_MAX = 1_000;
/** Of a longer one: the rows that are in sight, and these before and after. */
const MARGIN_ROWS = 30;
/** Before a row was measured. */
const ROW_PX = 22;
/** The height of the frame is 16 rem, and at most this with a magnified font. */
const FRAME_PX = 600;

/**
 * The numbers of a chart as a table, collapsed at first. Nothing of it is in the page before it is opened. A year
 * of quarter hours has 35,040 rows; of so many only those in sight are in the page, and the table says how many
 * there are.
 */
export function ChartTable({
  label,
  note,
  head,
  count,
  row,
}: {
  readonly label: string;
  /** What is said about the picture, at the end of its last line. */
  readonly note: string;
  readonly head: ReactNode;
  /** The number of rows. */
  readonly count: number;
  /** The cells of a row, from 0. */
  readonly row: (index: number) => ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className={styles.behind} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        Show as a table <span className={styles.note}>{note}</span>
      </summary>
      {isOpen ? <Opened label={label} head={head} count={count} row={row} /> : null}
    </details>
  );
}

function Opened({ label, head, count, row }: Omit<Parameters<typeof ChartTable>[0], 'note'>) {
  const [top, setTop] = useState(0);
  const [rowPx, setRowPx] = useState(ROW_PX);
  const body = useRef<HTMLTableSectionElement>(null);
  const isWhole = count <= WHOLE_ROWS_MAX;
  useLayoutEffect(() => {
    const height = body.current?.querySelector('tr:not([aria-hidden])')?.getBoundingClientRect();
    if (height !== undefined && height.height > 0) setRowPx(height.height);
  }, []);
  const shown = isWhole ? count : Math.ceil(FRAME_PX / rowPx) + 2 * MARGIN_ROWS;
  // The scroll position of a longer table may outlive it for a moment.
  const first = Math.max(0, Math.min(Math.floor(top / rowPx) - MARGIN_ROWS, count - shown));
  const last = Math.min(count, first + shown);
  return (
    <div
      className={styles.scroll}
      tabIndex={0}
      role="region"
      aria-label={`${label}, table`}
      {...(isWhole ? {} : { onScroll: (event) => setTop(event.currentTarget.scrollTop) })}
    >
      <table {...(isWhole ? {} : { 'aria-rowcount': count + 1 })}>
        <caption className="visually-hidden">{label}</caption>
        <thead>
          <tr {...(isWhole ? {} : { 'aria-rowindex': 1 })}>{head}</tr>
        </thead>
        <tbody ref={body}>
          <Room px={first * rowPx} />
          {Array.from({ length: last - first }, (_, place) => (
            <tr key={first + place} {...(isWhole ? {} : { 'aria-rowindex': first + place + 2 })}>
              {row(first + place)}
            </tr>
          ))}
          <Room px={(count - last) * rowPx} />
        </tbody>
      </table>
    </div>
  );
}

/** Stands for rows that are not in the page. */
function Room({ px }: { readonly px: number }) {
  return px === 0 ? null : (
    <tr aria-hidden="true">
      <td className={styles.room} style={{ height: px }} />
    </tr>
  );
}
