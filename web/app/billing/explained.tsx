import { Link } from '@tanstack/react-router';
import { Fragment, useMemo } from 'react';
import { explainedSteps } from '../../../domain/pricing/explain-text.ts';
import { RoundedFigures } from '../../../domain/pricing/rounded-figures.ts';
import type { NamedPlace } from '../../../domain/pricing/text-table.ts';
import type { Explanation } from '../../../schemas/explanation.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Money, Quantity } from '../../ui/money.tsx';
import { Rounded } from '../../ui/rounded.tsx';
import { Period } from '../../ui/time.tsx';
import { useMay } from '../person.tsx';
import { TierShares } from './tier-shares.tsx';
import styles from './explained.module.css';

const NO_NAMES: ReadonlyMap<string, string> = new Map();

/**
 * Every input and result of one row, in the order of its computation, as it is stored with the row. Coupons, tax rates
 * and wallets link to their pages.
 */
export function Explained({
  explanation,
  zone = 'UTC',
  names = NO_NAMES,
}: {
  readonly explanation: Explanation;
  readonly zone?: string;
  /** By id: names of coupons, tax rates and wallets. */
  readonly names?: ReadonlyMap<string, string>;
}) {
  const { currency } = explanation;
  const tiers = tiersOf(explanation);
  const steps = useMemo(() => {
    const figures = new RoundedFigures();
    return explainedSteps(explanation, { timezone: zone, names, mark: figures.mark }).map(
      ({ title, lines, named = [], ...step }) => ({
        ...step,
        title: figures.parts(title),
        lines: lines.flatMap((line, index): Parts => [
          ...(index === 0 ? [] : ['\n']),
          ...namedParts(line, index, named).flatMap((part): Parts =>
            typeof part === 'string' ? figures.parts(part) : [part],
          ),
        ]),
      }),
    );
  }, [explanation, zone, names]);
  return (
    <div className={styles.explained}>
      <Facts
        of={[
          ['Amount', <Money amount={explanation.amount} currency={currency} />],
          ['Quantity', <Quantity value={explanation.quantity} />],
          ['Service period', <Period {...explanation.period} zone={zone} />],
        ]}
      />
      {tiers === null ? null : <TierShares tiers={tiers} currency={currency} />}
      <ol className={styles.steps} aria-label="Steps of the computation">
        {steps.map(({ title, lines, rule, currency: ofStep }, index) => (
          <li key={index}>
            <div className={styles.title}>
              <h3>
                {index + 1}. <Text of={title} />
              </h3>
              <span className={styles.rule}>
                {[
                  ofStep === null ? null : `amounts in ${ofStep.toUpperCase()}`,
                  rule && `rule ${rule}`,
                ]
                  .filter((text) => text !== null)
                  .join(' · ')}
              </span>
            </div>
            {lines.length === 0 ? null : (
              <pre tabIndex={0} role="region" aria-label={plainText(title)}>
                <Text of={lines} />
              </pre>
            )}
          </li>
        ))}
      </ol>
      <details>
        <summary>Exact figures</summary>
        <p>
          Figures above have at most 6 decimals; ≈ marks those that are rounded for reading, and
          shows the exact one. Computed and stored were these:
        </p>
        <CodeBlock label="Exact figures" text={JSON.stringify(explanation, null, 2)} />
      </details>
    </div>
  );
}

type Parts = readonly (ReturnType<RoundedFigures['parts']>[number] | NamedPart)[];

/** The name of a record in a line. */
interface NamedPart extends Pick<NamedPlace, 'kind' | 'id'> {
  readonly shown: string;
}

/** A line in order: plain parts, and the names in it. */
function namedParts(
  line: string,
  index: number,
  named: readonly NamedPlace[],
): readonly (string | NamedPart)[] {
  const place = named.find((one) => one.line === index);
  if (place === undefined) return [line];
  const { kind, id, start, end } = place;
  return [line.slice(0, start), { kind, id, shown: line.slice(start, end) }, line.slice(end)];
}

function Text({ of }: { readonly of: Parts }) {
  return of.map((part, index) => {
    if (typeof part === 'string') return <Fragment key={index}>{part}</Fragment>;
    return 'exact' in part ? <Rounded key={index} {...part} /> : <Name key={index} of={part} />;
  });
}

/** The page of each kind of record, and who may see it. */
const PAGES = {
  coupon: ['/coupons', 'coupon:read'],
  tax_rate: ['/tax-rates', 'tax:read'],
  wallet: ['/wallets', 'wallet:read'],
} as const;

function Name({ of: { kind, id, shown } }: { readonly of: NamedPart }) {
  const [list, permission] = PAGES[kind];
  return useMay(permission) ? <Link to={`${list}/${id}`}>{shown}</Link> : <>{shown}</>;
}

const plainText = (parts: Parts): string =>
  parts.map((part) => (typeof part === 'string' ? part : part.shown)).join('');

/** The tiers of a row that was rated as a whole; those of windows and groups are in the steps. */
function tiersOf({ steps }: Explanation) {
  const rate = steps.find((step) => step.step === 'rate');
  return rate?.ratings.length === 1 ? rate.ratings[0]!.tiers : null;
}
