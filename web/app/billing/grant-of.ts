import type { ApiRecord } from '../../client/api.ts';
import { formatDecimal, formatWord } from '../../ui/text.ts';

/** What an entitlement gives, in a few words: `1,000 monthly`, `On`, `E-mail support`. */
export function grantOf({
  feature_type,
  is_enabled,
  usage_limit,
  usage_reset_period,
  static_value,
}: Pick<
  ApiRecord<'Entitlement'>,
  'feature_type' | 'is_enabled' | 'usage_limit' | 'usage_reset_period' | 'static_value'
>): string {
  if (!is_enabled) return 'Off';
  if (feature_type === 'static') return static_value;
  if (feature_type !== 'metered') return 'On';
  if (usage_limit === null) return 'No limit';
  const limit = formatDecimal(String(usage_limit));
  return usage_reset_period === ''
    ? limit
    : `${limit} ${formatWord(usage_reset_period).toLowerCase()}`;
}
