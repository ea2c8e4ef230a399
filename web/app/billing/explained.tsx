import { useMemo } from 'react';
import { explainedSteps } from '../../../domain/pricing/explain-text.ts';
import { RoundedFigures } from '../../../domain/pricing/rounded-figures.ts';
import type { Explanation } from '../../../schemas/explanation.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Money, Quantity } from '../../ui/money.tsx';
import { Rounded } from '../../ui/rounded.tsx';
import { Period } from '../../ui/time.tsx';
import { TierShares } from './tier-shares.tsx';
import styles from './explained.module.css';

const NO_NAMES: ReadonlyMap<string, string> = new Map();

/** Every input and result of one row, in the order of its computation, as it is stored with the row. */
export function Explained({
  explanation,
  zone = 'UTC',
  names = NO_NAMES,
}: {
  readonly explanation: Explanation;
  readonly zone?: string;
  /** By id: names of coupons and tax rates. */
  readonly names?: ReadonlyMap<string, string>;
}) {
  const { currency } = explanation;
  const tiers = tiersOf(explanation);
  const steps = useMemo(() => {
    const figures = new RoundedFigures();
    return explainedSteps(explanation, { timezone: zone, names, mark: figures.mark }).map(
      ({ title, lines, ...step }) => ({
        ...step,
        title: figures.parts(title),
        lines: figures.parts(lines.join('\n')),
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

type Parts = ReturnType<RoundedFigures['parts']>;

function Text({ of }: { readonly of: Parts }) {
  return of.map((part, index) =>
    typeof part === 'string' ? part : <Rounded key={index} {...part} />,
  );
}

const plainText = (parts: Parts): string =>
  parts.map((part) => (typeof part === 'string' ? part : part.shown)).join('');

/** The tiers of a row that was rated as a whole; those of windows and groups are in the steps. */
function tiersOf({ steps }: Explanation) {
  const rate = steps.find((step) => step.step === 'rate');
  return rate?.ratings.length === 1 ? rate.ratings[0]!.tiers : null;
}
