import type { ExplainedTier } from '../../../schemas/explanation.ts';
import { decimal } from '../../../domain/money.ts';
import { Money, Quantity } from '../../ui/money.tsx';
import { formatDecimal } from '../../ui/text.ts';
import { isZero } from './zero.ts';
import styles from './tier-shares.module.css';

const WIDTH = 100;

/** What each tier contributes to an amount: a bar in proportion, with the exact figures in the same row. */
export function TierShares({
  tiers,
  currency,
}: {
  readonly tiers: readonly ExplainedTier[];
  readonly currency: string;
}) {
  const highest = tiers
    .map(({ amount }) => decimal(amount).abs())
    .reduce((a, b) => (b.gt(a) ? b : a), decimal('0'));
  const hasFlat = tiers.some(({ flat_amount }) => !isZero(flat_amount));
  return (
    <div className={styles.scroll} tabIndex={0} role="region" aria-label="Share of each tier">
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">Tier</th>
            <th scope="col" className={styles.bars}>
              Share
            </th>
            <th scope="col">Units</th>
            <th scope="col">Unit price</th>
            {hasFlat ? <th scope="col">Flat fee</th> : null}
            <th scope="col">Amount</th>
          </tr>
        </thead>
        <tbody>
          {tiers.map((tier, index) => (
            <tr key={tier.tier}>
              <th scope="row">{rangeOf(tier)}</th>
              <td className={styles.bars}>
                <svg viewBox={`0 0 ${WIDTH} 8`} preserveAspectRatio="none" aria-hidden="true">
                  <rect
                    data-series={(index % 6) + 1}
                    width={
                      highest.isZero()
                        ? 0
                        : decimal(tier.amount).abs().div(highest).times(WIDTH).toNumber()
                    }
                    height="8"
                    rx="1"
                  />
                </svg>
              </td>
              <td>
                <Quantity value={tier.quantity} />
              </td>
              <td>
                <Money amount={tier.unit_amount} currency={currency} />
              </td>
              {hasFlat ? (
                <td>
                  <Money amount={tier.flat_amount} currency={currency} />
                </td>
              ) : null}
              <td>
                <Money amount={tier.amount} currency={currency} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const rangeOf = ({ above, up_to }: ExplainedTier): string =>
  up_to === null
    ? `above ${formatDecimal(above)}`
    : `${formatDecimal(above)} to ${formatDecimal(up_to)}`;
