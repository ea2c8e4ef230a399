import type { ApiRecord } from '../../client/api.ts';
import { Badge } from '../../ui/badge.tsx';
import { Quantity } from '../../ui/money.tsx';
import { Day } from '../../ui/time.tsx';
import styles from './feature-bars.module.css';

type FeatureUsage = ApiRecord<'FeatureUsage'>;

/** What a customer may use, and how much of it is used in the running reset window. */
export function FeatureBars({
  features,
  zone,
}: {
  readonly features: readonly FeatureUsage[];
  readonly zone: string;
}) {
  return (
    <ul className={styles.list}>
      {features.map((usage) => (
        <li key={usage.feature.id}>
          <FeatureBar usage={usage} zone={zone} />
        </li>
      ))}
    </ul>
  );
}

/** Of a feature without a quantity: the texts of its plans, or whether it is included. */
function wordsOf({ is_enabled, sources }: FeatureUsage): string {
  if (!is_enabled) return 'Not included';
  const texts = [...new Set(sources.map(({ static_value }) => static_value).filter(Boolean))];
  return texts.length === 0 ? 'Included' : texts.join(', ');
}

const FULL_PERCENT = 100;
const CLOSE_PERCENT = 80;

function FeatureBar({ usage, zone }: { readonly usage: FeatureUsage; readonly zone: string }) {
  const { feature, total_limit, current_usage, usage_percent } = usage;
  // Only the width of the bar is drawn from a floating-point number.
  const percent = Number(usage_percent);
  const unit = feature.unit_plural ?? '';
  return (
    <>
      <div className={styles.head}>
        <bdi className={styles.name}>{feature.name}</bdi>
        {feature.type === 'metered' && !usage.is_enabled ? <Badge>Off</Badge> : null}
        <span className={styles.figures}>
          {feature.type === 'metered' ? (
            <>
              <Quantity value={current_usage} unit={unit} />
              {usage.is_unlimited || total_limit === null
                ? ', no limit'
                : ` of ${total_limit.toLocaleString('en-US')} (${usage_percent}%)`}
            </>
          ) : (
            wordsOf(usage)
          )}
        </span>
      </div>
      {total_limit === null || feature.type !== 'metered' ? null : (
        <progress
          className={styles.bar}
          aria-label={`${feature.name}: ${usage_percent}% of the limit`}
          max={FULL_PERCENT}
          value={Math.min(percent, FULL_PERCENT)}
          data-level={
            percent >= FULL_PERCENT ? 'full' : percent >= CLOSE_PERCENT ? 'close' : 'calm'
          }
        />
      )}
      {usage.next_usage_reset_at === null ? null : (
        <span className={styles.reset}>
          Resets on <Day at={usage.next_usage_reset_at} zone={zone} />
        </span>
      )}
    </>
  );
}
