import { hasAccess, summarizeUsage } from '../../../domain/entitlement/access.ts';
import {
  effectiveEntitlements,
  refuseResetConflict,
  sourcesAt,
  sourcesDuring,
  stubLimit,
  type EntitlementRecord,
  type EntitlementSource,
} from '../../../domain/entitlement/effective-limits.ts';
import { Decimal } from '../../../domain/money.ts';
import { refusalOf } from '../../support/refusal.ts';
import { at, span } from '../pricing/lines.ts';

const metered = (
  id: string,
  limit: number | string | null,
  more: Partial<EntitlementRecord> = {},
) =>
  ({
    id,
    entity_type: 'PLAN',
    entity_id: 'plan_1',
    feature_id: 'feat_1',
    feature_type: 'metered',
    is_enabled: true,
    usage_limit: limit,
    usage_reset_period: 'MONTHLY',
    is_soft_limit: false,
    static_value: null,
    parent_entitlement_id: null,
    status: 'published',
    ...more,
  }) satisfies EntitlementRecord;
const source = (
  entitlement: EntitlementRecord,
  more: Partial<EntitlementSource> = {},
): EntitlementSource => ({
  entitlement,
  subscription_id: 'subs_1',
  quantity: '1',
  start_date: null,
  end_date: null,
  ...more,
});
const plan = (limit: number | null, more: Partial<EntitlementRecord> = {}) =>
  source(metered('ent_plan', limit, more));
const addon = (limit: number | null, quantity = '1', more: Partial<EntitlementRecord> = {}) =>
  source(metered('ent_addon', limit, { entity_type: 'ADDON', ...more }), { quantity });
const override = (limit: number | null, more: Partial<EntitlementRecord> = {}) =>
  source(
    metered('ent_own', limit, {
      entity_type: 'SUBSCRIPTION',
      parent_entitlement_id: 'ent_plan',
      ...more,
    }),
  );
const limitOf = (...sources: EntitlementSource[]) => {
  const [found] = effectiveEntitlements(sources);
  return found === undefined ? 'none' : (found.usage_limit?.toFixed() ?? 'unlimited');
};

describe('limits of all sources add up (4.4, money 6.5, 6.8)', () => {
  test.each<[string, EntitlementSource[], string]>([
    ['the plan', [plan(1000)], '1000'],
    ['nothing free', [plan(0)], '0'],
    ['unlimited', [plan(null)], 'unlimited'],
    ['plan and addon', [plan(10), addon(5)], '15'],
    ['an addon twice the quantity', [plan(10), addon(5, '2')], '20'],
    ['an addon attached twice', [plan(10), addon(5), addon(5)], '20'],
    ['half an addon', [addon(5, '0.5')], '2.5'],
    ['one unlimited source makes the sum unlimited', [plan(null), addon(500)], 'unlimited'],
    ['an unlimited addon', [plan(10), addon(null, '3')], 'unlimited'],
    ['an override replaces its parent', [plan(1000), override(1500)], '1500'],
    ['plan 1000, two addons of 500, override 1500: 2500', [plan(1000), addon(500), addon(500), override(1500)], '2500'],
    ['an override of 0', [plan(1000), override(0)], '0'],
    ['an override lifts the limit', [plan(1000), override(null)], 'unlimited'],
    ['an override that is disabled takes the entitlement away', [plan(1000), override(5, { is_enabled: false })], 'none'],
    ['an own entitlement without a parent adds', [plan(10), override(5, { parent_entitlement_id: null })], '15'],
    ['a disabled source does not exist', [plan(10, { is_enabled: false }), addon(5)], '5'],
    ['an archived source does not exist', [plan(10, { status: 'archived' }), addon(5)], '5'],
    ['an archived override replaces nothing', [plan(10), override(5, { status: 'archived' })], '10'],
    ['no source', [], 'none'],
  ])('%s', (_title, sources, limit) => {
    expect(limitOf(...sources)).toBe(limit);
  }); // prettier-ignore

  test('an override replaces the parent of its own subscription only', () => {
    const other = source(metered('ent_plan', 10), { subscription_id: 'subs_2' });
    expect(limitOf(plan(1000), other, override(1500))).toBe('1510');
  });

  test('features are separate, in their given order', () => {
    const sources = [
      source(metered('a', 1, { feature_id: 'f2' })),
      source(metered('b', 2, { feature_id: 'f1' })),
      source(metered('c', 3, { feature_id: 'f2' })),
    ];
    expect(
      effectiveEntitlements(sources).map((found) => [
        found.feature_id,
        found.usage_limit!.toFixed(),
        found.sources.length,
      ]),
    ).toEqual([
      ['f2', '4', 2],
      ['f1', '2', 1],
    ]);
  });
});

describe('what else a feature has (money 6.8)', () => {
  const effective = (...sources: EntitlementSource[]) => effectiveEntitlements(sources)[0]!;

  test('soft when any source is', () => {
    expect(effective(plan(1), addon(1)).is_soft_limit).toBe(false);
    expect(effective(plan(1), addon(1, '1', { is_soft_limit: true })).is_soft_limit).toBe(true);
  });

  test.each<[string[], string]>([
    [['MONTHLY'], 'MONTHLY'],
    [['MONTHLY', 'DAILY', 'MONTHLY'], 'MONTHLY'],
    [['ANNUAL', 'MONTHLY'], 'MONTHLY'],
    [['NEVER', 'ANNUAL'], 'ANNUAL'],
    [['WEEKLY', 'DAILY'], 'DAILY'],
    [['NEVER', 'NEVER', 'DAILY'], 'NEVER'],
    [['HALF_YEARLY', 'QUARTERLY', 'HALF_YEARLY', 'QUARTERLY'], 'QUARTERLY'],
  ])('reset periods %p: %s', (periods, prevailing) => {
    const sources = periods.map((usage_reset_period, index) =>
      source(
        metered(`ent_${index}`, 1, {
          usage_reset_period: usage_reset_period as EntitlementRecord['usage_reset_period'],
        }),
      ),
    );
    expect(effective(...sources).usage_reset_period).toBe(prevailing);
  });

  test('boolean, static and config features have no limit', () => {
    const other = (id: string, more: Partial<EntitlementRecord>) =>
      source(metered(id, null, { usage_reset_period: null, ...more }));
    expect(effective(other('a', { feature_type: 'boolean' }))).toMatchObject({
      is_enabled: true,
      usage_limit: null,
      is_unlimited: false,
      usage_reset_period: null,
    });
    const values = ['eu', 'us', 'eu', null].map((static_value, index) =>
      other(`s${index}`, { feature_type: 'static', static_value }),
    );
    expect(effective(...values).static_values).toEqual(['eu', 'us']);
    const configs = [{ a: 1 }, null, { b: 2 }].map((config_value, index) =>
      other(`c${index}`, { feature_type: 'config', config_value }),
    );
    expect(effective(...configs).config_values).toEqual([{ a: 1 }, { b: 2 }]);
  });

  test('unlimited says so', () => {
    expect(effective(plan(null)).is_unlimited).toBe(true);
    expect(effective(plan(0)).is_unlimited).toBe(false);
  });
});

describe('which sources hold (money 6.7)', () => {
  const windowed = (start: string | null, end: string | null) =>
    source(metered('ent', 1), {
      start_date: start === null ? null : at(start),
      end_date: end === null ? null : at(end),
    });
  test.each`
    start           | end             | atInstant | during
    ${null}         | ${null}         | ${true}   | ${true}
    ${'2026-01-15'} | ${null}         | ${true}   | ${true}
    ${'2026-01-16'} | ${null}         | ${false}  | ${true}
    ${'2026-02-01'} | ${null}         | ${false}  | ${false}
    ${null}         | ${'2026-01-15'} | ${false}  | ${true}
    ${null}         | ${'2026-01-16'} | ${true}   | ${true}
    ${null}         | ${'2026-01-01'} | ${false}  | ${false}
    ${'2026-01-02'} | ${'2026-01-03'} | ${false}  | ${true}
  `('from $start to $end: now $atInstant, in January $during', (row) => {
    const sources = [windowed(row.start, row.end)];
    expect(sourcesAt(sources, at('2026-01-15'))).toEqual(row.atInstant ? sources : []);
    expect(sourcesDuring(sources, span('2026-01-01', '2026-02-01'))).toEqual(
      row.during ? sources : [],
    );
  });
});

describe('two reset periods on one feature are refused (4.4, money 6.11)', () => {
  const yearly = (more: Partial<EntitlementRecord> = {}) =>
    addon(5, '1', { usage_reset_period: 'ANNUAL', ...more });
  test('an addon that conflicts', () => {
    const refusal = refusalOf(() => refuseResetConflict([plan(1), yearly()]));
    expect(refusal).toMatchObject({ kind: 'invalid', code: 'invalid_operation' });
    expect(refusal.message).toBe(
      'Feature feat_1 would have the usage reset periods MONTHLY and ANNUAL.',
    );
  });
  test('accepted: the same period, another feature, another type, one that is replaced', () => {
    const fine = (...sources: EntitlementSource[]) =>
      expect(refuseResetConflict(sources)).toBeUndefined();
    fine(plan(1), addon(5));
    fine(plan(1), yearly({ feature_id: 'feat_2' }));
    fine(plan(1), yearly({ is_enabled: false }));
    fine(plan(1, { feature_type: 'static' }), yearly({ feature_type: 'static' }));
    fine(plan(1), override(5, { usage_reset_period: 'ANNUAL' }));
  });
});

describe('the limit of a stub (4, 10.1)', () => {
  const stub = (sources: EntitlementSource[], part_ms: number, whole_ms: number) =>
    stubLimit(effectiveEntitlements(sources)[0]!, { part_ms, whole_ms })?.limit.toFixed() ??
    'unlimited';
  test.each<[EntitlementSource[], number, number, string]>([
    [[plan(100)], 1, 2, '50'],
    [[plan(100)], 1, 3, '33'],
    [[plan(100)], 2, 3, '67'],
    [[plan(5)], 1, 2, '3'],
    [[plan(10), addon(5)], 1, 2, '8'],
    [[plan(null)], 1, 2, 'unlimited'],
    [[plan(100), override(80)], 1, 2, '80'],
    [[plan(100), addon(50), override(80)], 1, 2, '105'],
    [[plan(100)], 0, 2, '0'],
    [[plan(100)], 2, 2, '100'],
  ])('%p, %d of %d', (sources, part, whole, limit) => {
    expect(stub(sources, part, whole)).toBe(limit);
  });
});

describe('access and percent (4.3, money 6.12, 6.15)', () => {
  const entitled = (limit: string | null, soft = false, enabled = true) => ({
    usage_limit: limit === null ? null : new Decimal(limit),
    is_soft_limit: soft,
    is_enabled: enabled,
  });
  test.each`
    limit    | soft     | used      | percent    | access
    ${'100'} | ${false} | ${'0'}    | ${'0'}     | ${true}
    ${'100'} | ${false} | ${'50'}   | ${'50'}    | ${true}
    ${'100'} | ${false} | ${'99.9'} | ${'99.9'}  | ${true}
    ${'100'} | ${false} | ${'100'}  | ${'100'}   | ${false}
    ${'100'} | ${false} | ${'135'}  | ${'135'}   | ${false}
    ${'100'} | ${true}  | ${'135'}  | ${'135'}   | ${true}
    ${'3'}   | ${false} | ${'1'}    | ${'33.33'} | ${true}
    ${'3'}   | ${false} | ${'2'}    | ${'66.67'} | ${true}
    ${'0'}   | ${false} | ${'0'}    | ${'0'}     | ${false}
    ${'0'}   | ${false} | ${'1'}    | ${'100'}   | ${false}
    ${'0'}   | ${true}  | ${'1'}    | ${'100'}   | ${true}
    ${null}  | ${false} | ${'999'}  | ${'0'}     | ${true}
  `('$used of $limit, soft $soft: $percent %', ({ limit, soft, used, percent, access }) => {
    const summary = summarizeUsage(entitled(limit, soft), new Decimal(used));
    expect(summary.usage_percent.toFixed()).toBe(percent);
    expect(summary.has_access).toBe(access);
    expect(summary.is_unlimited).toBe(limit === null);
    expect(summary.current_usage.toFixed()).toBe(used);
    expect(summary.total_limit?.toFixed() ?? null).toBe(limit);
  });
  test('what is not enabled is not accessible', () => {
    expect(hasAccess(entitled(null, true, false), new Decimal(0))).toBe(false);
  });
});
