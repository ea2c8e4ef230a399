import {
  assertEntitlement,
  type EntitledFeature,
  type EntitlementTerms,
} from '../../../domain/entitlement/entitlement-rules.ts';
import { refusalOf } from '../../support/refusal.ts';
import { at } from '../pricing/lines.ts';

const terms = (more: Partial<EntitlementTerms> = {}) => ({
  id: 'ent_1',
  is_enabled: true,
  is_soft_limit: false,
  usage_limit: null,
  usage_reset_period: null,
  static_value: null,
  config_value: null,
  aggregation_mode: 'additive' as const,
  grant_quota: null,
  grant_measure: null,
  grant_duration_unit: null,
  grant_duration_value: null,
  grant_allocation_behavior: null,
  start_date: null,
  end_date: null,
  ...more,
});
const QUOTA = {
  grant_quota: '100',
  grant_measure: 'quantity',
  grant_duration_unit: 'hour',
  grant_duration_value: 5,
} as const;
const metered = (
  type: 'SUM' | 'MAX' | 'COUNT' = 'SUM',
  bucket_size: 'DAY' | null = null,
): EntitledFeature => ({ type: 'metered', aggregation: { type, bucket_size }, lifetime: false });
const plain = (type: 'boolean' | 'static' | 'config'): EntitledFeature => ({
  type,
  aggregation: null,
  lifetime: false,
});

const NOT_COUNTABLE =
  'feature_id: quotas need a meter of COUNT, SUM or SUM_WITH_MULTIPLIER without windows, with a reset';

describe('what an entitlement may grant (money 6.2, 6.4, 7.1, 7.2)', () => {
  test.each<[string, Partial<EntitlementTerms>, EntitledFeature]>([
    ['a limit', { usage_limit: 100, usage_reset_period: 'MONTHLY' }, metered()],
    ['nothing', { usage_limit: 0 }, metered()],
    ['a limit on windows of a sum', { usage_limit: 5 }, metered('SUM', 'DAY')],
    ['a limit on a maximum without windows', { usage_limit: 5 }, metered('MAX')],
    ['a switch', {}, plain('boolean')],
    ['a text', { static_value: 'gold' }, plain('static')],
    ['an object', { config_value: { seats: 3 } }, plain('config')],
    ['a quota', QUOTA, metered()],
    ['a quota from the beginning of its unit', { ...QUOTA, grant_allocation_behavior: 'unit_start' }, metered('COUNT')],
    ['a window', { start_date: at('2026-01-01'), end_date: at('2026-01-02') }, metered()],
    ['an open window', { start_date: at('2026-01-01') }, metered()],
    ['an end', { end_date: at('2026-01-01') }, metered()],
  ])('%s', (_title, more, feature) => {
    expect(assertEntitlement(terms(more), feature, [])).toBeUndefined();
  }); // prettier-ignore

  test.each<[string, Partial<EntitlementTerms>, EntitledFeature, string]>([
    ['a static feature without text', {}, plain('static'), 'static_value: is required for a static feature'],
    ['an empty text', { static_value: '' }, plain('static'), 'static_value: is required for a static feature'],
    ['an object on a switch', { config_value: {} }, plain('boolean'), 'config_value: is for config features only'],
    ['an end before the start', { start_date: at('2026-01-02'), end_date: at('2026-01-01') }, metered(), 'end_date: must be after start_date'],
    ['an end at the start', { start_date: at('2026-01-01'), end_date: at('2026-01-01') }, metered(), 'end_date: must be after start_date'],
    ['a maximum in windows', { usage_limit: 5 }, metered('MAX', 'DAY'), 'feature_id: a meter of MAX in buckets has no total that could be limited'],
    ['a behaviour without a quota', { grant_allocation_behavior: 'unit_start' }, metered(), 'grant_quota: is required with grant_allocation_behavior'],
    ['a quota on a switch', QUOTA, plain('boolean'), 'grant_quota: is for metered features only'],
    ['a quota without its measure', { ...QUOTA, grant_measure: null }, metered(), 'grant_measure: is required with grant_quota'],
    ['a measure alone', { grant_measure: 'quantity' }, metered(), 'grant_quota: is required with grant_measure'],
    ['parallel limits', { aggregation_mode: 'parallel' }, metered(), 'aggregation_mode: must be additive without a quota: limits add up'],
    ['a quota beside a limit', { ...QUOTA, usage_limit: 5 }, metered(), 'usage_limit: has no effect with grant_quota'],
    ['a quota beside a reset', { ...QUOTA, usage_reset_period: 'DAILY' }, metered(), 'usage_reset_period: has no effect with grant_quota'],
    ['a quota of money', { ...QUOTA, grant_measure: 'amount' }, metered(), 'grant_measure: must be quantity: amounts cannot be a quota'],
    ['a quota of a running total', QUOTA, { ...metered(), lifetime: true }, NOT_COUNTABLE],
    ['a quota without its length', { ...QUOTA, grant_duration_value: null }, metered(), 'grant_duration_value: is required with grant_quota'],
    ['a quota without its unit', { ...QUOTA, grant_duration_unit: null }, metered(), 'grant_duration_unit: is required with grant_quota'],
    ['a quota on a maximum', QUOTA, metered('MAX'), NOT_COUNTABLE],
    ['a quota on windows', QUOTA, metered('SUM', 'DAY'), NOT_COUNTABLE],
  ])('refused: %s', (_title, more, feature, message) => {
    const refusal = refusalOf(() => assertEntitlement(terms(more), feature, []));
    expect(refusal).toMatchObject({ kind: 'invalid', code: 'validation_error', message });
    expect(refusal.details[0]!.path).toBe(message.split(':')[0]);
  }); // prettier-ignore
});
