import { useMemo } from 'react';
import { explainedSteps } from '../../../domain/pricing/explain-text.ts';
import { RoundedFigures } from '../../../domain/pricing/rounded-figures.ts';
import type { Explanation } from '../../../schemas/explanation.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Money, Quantity } from '../../ui/money.tsx';
import { formatCurrency } from '../../ui/text.ts';
import { Period } from '../../ui/time.tsx';
import { ComputationStep } from './computation-step.tsx';
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
  const { steps, figures } = useMemo(() => {
    const marked = new RoundedFigures();
    return {
      figures: marked,
      steps: explainedSteps(explanation, { timezone: zone, names, mark: marked.mark }),
    };
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
        {steps.map(({ title, body, rule, currency: ofStep }, index) => (
          <ComputationStep
            key={index}
            number={`${index + 1}.`}
            title={title}
            note={[
              ofStep === null ? null : `amounts in ${formatCurrency(ofStep)}`,
              rule && `rule ${rule}`,
            ]
              .filter((text) => text !== null)
              .join(' · ')}
            body={body}
            figures={figures}
          />
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

/** The tiers of a row that was rated as a whole; those of windows and groups are in the steps. */
function tiersOf({ steps }: Explanation) {
  const rate = steps.find((step) => step.step === 'rate');
  return rate?.ratings.length === 1 ? rate.ratings[0]!.tiers : null;
}
