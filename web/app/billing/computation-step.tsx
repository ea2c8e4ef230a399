import { Link } from '@tanstack/react-router';
import { Fragment, type CSSProperties } from 'react';
import type { RoundedFigures } from '../../../domain/pricing/rounded-figures.ts';
import {
  cellText,
  tableColumns,
  type Cell,
  type NamedCell,
  type StepPart,
} from '../../../domain/pricing/text-table.ts';
import { Rounded } from '../../ui/rounded.tsx';
import { useMay } from '../person.tsx';
import styles from './computation-step.module.css';

/** One step of an explanation: its title, and below it sentences, rows of figures, and steps within it. */
export function ComputationStep({
  number,
  title,
  note,
  body,
  figures,
}: {
  readonly number: string;
  readonly title: string;
  /** Stands behind the title: the currency, the rule. */
  readonly note: string;
  readonly body: readonly StepPart[];
  readonly figures: RoundedFigures;
}) {
  return (
    <li>
      <div className={styles.title}>
        <h3>
          {number} <Text of={title} figures={figures} />
        </h3>
        <span className={styles.note}>{note}</span>
      </div>
      {body.length === 0 ? null : (
        <div className={styles.body}>
          {body.map((part, index) => (
            <Part key={index} of={part} figures={figures} />
          ))}
        </div>
      )}
    </li>
  );
}

function Part({ of, figures }: { readonly of: StepPart; readonly figures: RoundedFigures }) {
  if (typeof of === 'string')
    return (
      <p>
        <Text of={of} figures={figures} />
      </p>
    );
  if ('rows' in of) return <Rows rows={of.rows} figures={figures} />;
  if ('facts' in of)
    return (
      <dl className={styles.facts}>
        {of.facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <Text of={value} figures={figures} />
            </dd>
          </div>
        ))}
      </dl>
    );
  return (
    <section className={styles.inner}>
      <h4>{of.heading}</h4>
      <ol>
        {of.steps.map((step) => (
          <ComputationStep
            key={step.number}
            number={step.number}
            title={step.title}
            note={`rule ${step.rule}`}
            body={step.body}
            figures={figures}
          />
        ))}
      </ol>
    </section>
  );
}

/**
 * Each row is a list of names and values. Where there is room the rows share their columns and the names stand once,
 * above the first row; on a phone each value has its name before it.
 */
function Rows({
  rows,
  figures,
}: {
  readonly rows: readonly (readonly Cell[])[];
  readonly figures: RoundedFigures;
}) {
  const columns = tableColumns(rows);
  return (
    <div className={styles.rows} style={{ '--columns': columns.length } as CSSProperties}>
      {rows.slice(1).map((_, row) => (
        <dl key={row}>
          {columns.map(({ heading, cells, isNumeric, room }, column) =>
            // The names stand above the first row, also above a cell that it does not have.
            cells[row] === '' && row > 0 ? null : (
              <div
                key={column}
                style={{ gridColumn: column + 1 }}
                data-numeric={isNumeric}
                data-empty={cells[row] === ''}
              >
                <dt>{row > 0 && namesRow(cells[row]!) ? '' : cellText(heading)}</dt>
                <dd data-room={roomText(room[row]!)}>
                  <Text of={cells[row]!} figures={figures} />
                </dd>
              </div>
            ),
          )}
        </dl>
      ))}
    </div>
  );
}

/** `total`, `20 more`: such a cell is no value of its column. */
const namesRow = (cell: Cell): boolean => /^(total|\d+ more)$/.test(cellText(cell));

/** Invisible digits that keep the points of a column below each other. */
const roomText = (length: number): string | undefined =>
  length === 0 ? undefined : length === 1 ? '0' : `.${'0'.repeat(length - 1)}`;

function Text({ of, figures }: { readonly of: Cell; readonly figures: RoundedFigures }) {
  if (typeof of === 'string')
    return figures
      .parts(of)
      .map((part, index) => (
        <Fragment key={index}>{typeof part === 'string' ? part : <Rounded {...part} />}</Fragment>
      ));
  return (
    <>
      <Text of={of.before} figures={figures} />
      <Name of={of} />
      <Text of={of.after} figures={figures} />
    </>
  );
}

/** The page of each kind of record, and who may see it. */
const PAGES = {
  coupon: ['/coupons', 'coupon:read'],
  tax_rate: ['/tax-rates', 'tax:read'],
  wallet: ['/wallets', 'wallet:read'],
} as const;

function Name({ of: { kind, id, name } }: { readonly of: NamedCell }) {
  const [list, permission] = PAGES[kind];
  return useMay(permission) ? <Link to={`${list}/${id}`}>{name}</Link> : <bdi>{name}</bdi>;
}
