import {
  effectiveEntitlements,
  sourcesAt,
  type EffectiveEntitlement,
} from '../../../domain/entitlement/effective-limits.ts';
import { grantUsageState } from '../../../domain/entitlement/usage-alert.ts';
import type { UsageQuery, UsageRow } from '../../../domain/metering/usage.ts';
import { versionForPeriod } from '../../../domain/metering/version-for-period.ts';
import { Decimal, decimalText, ZERO } from '../../../domain/money.ts';
import type { SpendAlertSettings } from '../../../domain/subscription/spend-alert.ts';
import { epochMs, isoText, type Period } from '../../../domain/time/instant.ts';
import type { PausedTime } from '../../../domain/time/paused-cells.ts';
import { alertTransition } from '../../../domain/wallet/balance-alert.ts';
import { type Scope, type Transaction } from '../../../postgres/client.ts';
import { meterVersionsOf } from '../../../postgres/tables/meter-versions.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import { readSetting } from '../../../postgres/tables/settings.ts';
import type { BillingDeps } from '../../deps.ts';
import { groupBy } from '../../../domain/group-by.ts';
import type { Caller } from '../../conventions/record.ts';
import { findCustomers } from '../../customers/customers/repository.ts';
import { sourcesOfAllPlans } from '../../catalog/entitlements/entitlement-sources.ts';
import { findFeatures } from '../../catalog/features/repository.ts';
import { featureUsageQuery } from '../analytics/customer-usage.ts';
import { pausesOf, windowOf, withPauses } from '../analytics/running-window.ts';
import {
  byTime,
  measureQuotas,
  runningQuotas,
  type RunningQuotas,
} from '../analytics/granted-quotas.ts';
import {
  insertAlertLog,
  lastAlertStates,
  loggedPeriodsOf,
  type AlertStream,
} from '../records/alert-log-repository.ts';
import { grantingSubscriptions } from './repository.ts';

/** The usage of one granted feature by one customer in its running reset window, or in one window of a quota. */
export interface MeasuredGrant {
  readonly customer_id: string;
  readonly entitlement: EffectiveEntitlement;
  /** The source that names the alert: the first one. */
  readonly entitlement_id: string;
  readonly subscription_id: string;
  readonly window_start: string;
  readonly window_end: string;
  readonly usage: Decimal;
  /** The limit of the window; of a quota that of the window itself. */
  readonly usage_limit: Decimal;
  readonly levels: SpendAlertSettings;
}

/**
 * Measures the limits and the windows of quotas that these customers have (money 7.12), with one grouped read of
 * usage. Features whose usage is still being counted, or whose meter is set aside, are left out.
 */
export async function measureGrants(
  deps: BillingDeps,
  scope: Scope,
  customerIds: readonly string[],
  at: string,
): Promise<MeasuredGrant[]> {
  const { pool } = deps;
  const config = await readSetting(pool, scope, 'entitlement_alert_config');
  const { critical = null, warning = null, info = null } = config;
  const levels = { alert_enabled: config.alert_enabled === true, critical, warning, info };
  const subscriptions = await grantingSubscriptions(pool, scope, customerIds, at);
  const all = await sourcesOfAllPlans(pool, scope, subscriptions);
  const sources = sourcesAt(all, at);
  const granting = await withPauses(pool, scope, subscriptions);
  const subscriptionOf = granting.subscriptions;
  const byCustomer = groupBy(
    sources,
    ({ subscription_id }) => subscriptionOf.get(subscription_id)!.customer_id,
  );
  const granted = [...byCustomer].flatMap(([customer_id, own]) =>
    effectiveEntitlements(own)
      .filter(({ usage_limit, quotas }) => usage_limit !== null || quotas.length > 0)
      .map((entitlement) => ({ customer_id, entitlement })),
  );
  const [customers, features] = await Promise.all([
    findCustomers(pool, scope, [...byCustomer.keys()]),
    findFeatures(pool, scope, [...new Set(granted.map((each) => each.entitlement.feature_id))]),
  ]);
  const meterOf = new Map(features.map(({ id, meter_id }) => [id, meter_id]));
  const versions = groupBy(
    await meterVersionsOf(pool, scope, [...new Set(features.flatMap((row) => row.meter_id ?? []))]),
    ({ meter_id }) => meter_id,
  );
  const asked = granted.flatMap(({ customer_id, entitlement }, index): AskedGrant[] => {
    const customer = customers.find(({ id }) => id === customer_id);
    const ofMeter = versions.get(meterOf.get(entitlement.feature_id) ?? '') ?? [];
    const questionOf = (
      key: string,
      asked: Period & { readonly pauses: readonly PausedTime[] },
    ): UsageQuery[] => {
      const version = versionForPeriod(ofMeter, [], asked.start);
      if (customer === undefined || version?.backfill_state !== 'complete') return [];
      return [featureUsageQuery(scope, customer, key, version, asked)];
    };
    if (entitlement.usage_limit === null)
      return runningQuotas(entitlement, all, subscriptionOf, at).flatMap((quotas) => {
        const pauses = granting.pauses.get(quotas.subscription_id) ?? [];
        const asked = { ...quotas.cycle, pauses };
        return questionOf(`${index}/${quotas.subscription_id}`, asked).map((query) => ({
          ...{ customer_id, entitlement, quotas },
          query: byTime(query),
        }));
      });
    const { start, until: end } = windowOf(entitlement, granting, at);
    const pauses = pausesOf(entitlement, granting);
    return questionOf(String(index), { start, end, pauses }).map((query) => ({
      ...{ customer_id, entitlement, query },
      quotas: null,
    }));
  });
  if (asked.length === 0) return [];
  const { answers } = await deps.usageReader.read(asked.map(({ query }) => query));
  return asked.flatMap((grant) =>
    measured(grant, answers.get(grant.query.key)?.rows ?? [], at).map((found) => ({
      ...found,
      levels,
    })),
  );
}

interface AskedGrant {
  readonly customer_id: string;
  readonly entitlement: EffectiveEntitlement;
  /** Null for a feature with a limit. */
  readonly quotas: RunningQuotas | null;
  readonly query: UsageQuery;
}

/** A day in which a window that has ended is still announced, for a job that was late. */
const LATE_MS = 86_400_000;

/** The running window of a limit, or the open and the lately ended windows of quotas (money 7.8). */
function measured(
  { customer_id, entitlement, quotas, query }: AskedGrant,
  rows: readonly UsageRow[],
  at: string,
): Omit<MeasuredGrant, 'levels'>[] {
  if (quotas !== null) {
    const since = isoText(epochMs(at) - LATE_MS);
    return measureQuotas(quotas, rows, at)
      .windows.filter(({ start, end }) => start <= at && end > since)
      .map(({ entitlement_id, start, end, quota, used }) => ({
        ...{ customer_id, entitlement, entitlement_id, usage: used, usage_limit: quota },
        subscription_id: quotas.subscription_id,
        window_start: start,
        window_end: end,
      }));
  }
  const first = entitlement.sources[0]!;
  return [
    {
      customer_id,
      entitlement,
      entitlement_id: first.entitlement.id,
      subscription_id: first.subscription_id,
      window_start: query.start,
      window_end: query.end,
      usage: rows.reduce((total, row) => total.plus(row.quantity), ZERO),
      usage_limit: entitlement.usage_limit!,
    },
  ];
}

/**
 * Logs changes of the share that is used, and announces a limit of which nothing is left, once per reset
 * window (money 7.12). Returns how many changes there were. The caller's lease excludes a second evaluation.
 */
export async function writeGrantAlerts(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  measured: readonly MeasuredGrant[],
  at: string,
): Promise<number> {
  const { scope } = caller;
  const logged = await knownWindows(tx, scope, measured);
  const last = await lastAlertStates(
    tx,
    scope,
    logged.map(({ entitlement_id }) => entitlement_id),
    logged.map(({ window_start }) => window_start),
  );
  let count = 0;
  for (const grant of logged) {
    const stream = {
      entity_type: 'entitlement_grant',
      entity_id: grant.entitlement_id,
      parent_entity_type: 'subscription',
      parent_entity_id: grant.subscription_id,
      period_start: grant.window_start,
    } as const;
    const streams = {
      threshold: { ...stream, alert_type: 'entitlement_grant_threshold' },
      exhausted: { ...stream, alert_type: 'entitlement_grant_exhausted' },
    } as const satisfies Record<string, AlertStream>;
    const { usage_limit } = grant;
    const limited = { ...grant.entitlement, usage_limit };
    const found = grantUsageState(grant.levels, limited, grant.usage, {
      threshold: last(streams.threshold) ?? 'ok',
      exhausted: last(streams.exhausted) ?? 'ok',
    });
    if (found === null) continue;
    for (const kind of ['threshold', 'exhausted'] as const) {
      const state = found[kind];
      if (alertTransition(last(streams[kind]), state) === null) continue;
      count += 1;
      await insertAlertLog(tx, deps, caller, {
        ...streams[kind],
        customer_id: grant.customer_id,
        state,
        value: found.usage_percent,
        settings: grant.levels,
        at,
      });
      if (kind === 'exhausted') await announce(tx, scope, grant, found.usage_percent, at);
    }
  }
  return count;
}

/**
 * The same windows with the starts that the log has for them. Late usage makes a window start earlier than in the log:
 * it is still that window (money 7.12).
 */
async function knownWindows(
  tx: Transaction,
  scope: Scope,
  measured: readonly MeasuredGrant[],
): Promise<MeasuredGrant[]> {
  if (measured.length === 0) return [];
  const starts = measured.map(({ window_start }) => window_start).sort();
  const ends = measured.map(({ window_end }) => window_end).sort();
  const ids = measured.map(({ entitlement_id }) => entitlement_id);
  const within = { from: starts[0]!, until: ends.at(-1)! };
  const known = await loggedPeriodsOf(tx, scope, ids, within);
  return measured.map((grant) => {
    const { entitlement_id, subscription_id, window_start, window_end } = grant;
    const same = known.find(
      ({ entity_id, parent_entity_id, period_start }) =>
        entity_id === entitlement_id &&
        parent_entity_id === subscription_id &&
        period_start !== null &&
        window_start <= period_start &&
        period_start < window_end,
    );
    return same === undefined ? grant : { ...grant, window_start: same.period_start! };
  });
}

async function announce(
  tx: Transaction,
  scope: Scope,
  grant: MeasuredGrant,
  percent: Decimal,
  at: string,
): Promise<void> {
  await writeOutboxEvents(tx, [
    {
      scope,
      event_type: 'entitlement.grant.exhausted',
      entity: { entity_type: 'entitlement', entity_id: grant.entitlement_id },
      payload: {
        subscription_id: grant.subscription_id,
        customer_id: grant.customer_id,
        feature_id: grant.entitlement.feature_id,
        entitlement_id: grant.entitlement_id,
        entitlement_grant_id: grant.entitlement_id,
        alert_type: 'entitlement_grant_exhausted',
        alert_status: 'in_alarm',
        usage_ratio: decimalText(percent.div(100)),
        triggered_at: at,
      },
    },
  ]);
}
