import { decimal, decimalText, sum, type Decimal } from '../../../domain/money.ts';
import {
  spendAlertState,
  type SpendAlertSettings,
} from '../../../domain/subscription/spend-alert.ts';
import { alertTransition, type AlertState } from '../../../domain/wallet/balance-alert.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import { readSetting } from '../../../postgres/tables/settings.ts';
import type { AlertSetting } from '../../../schemas/alert.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { groupBy } from '../../../domain/group-by.ts';
import { findCustomers } from '../../customers/customers/repository.ts';
import { computeInvoices } from '../computing/compute-invoices.ts';
import type { ComputedInvoice } from '../computing/invoice-target.ts';
import { cycleTarget } from '../computing/targets.ts';
import {
  insertAlertLog,
  lastAlertStates,
  type AlertStream,
} from '../records/alert-log-repository.ts';
import { subscriptionSnapshot } from '../records/subscription-notification.ts';
import { findSubscriptions } from '../records/subscription-repository.ts';
import { settingsOfSubscriptions } from './repository.ts';

/** A watched entity with its spend of the running period. */
export interface MeasuredSpend {
  readonly subscription: SubscriptionRow;
  readonly stream: AlertStream;
  readonly settings: SpendAlertSettings;
  readonly isEnabled: boolean;
  readonly spend: Decimal;
}

interface Watched extends Omit<MeasuredSpend, 'spend'> {
  readonly entity: 'subscription' | 'line_item' | 'group';
}

/**
 * Measures the spend of the running period of each watched entity of these subscriptions (money 20.3): its
 * usage rows as an invoice would have them now, before coupons and taxes, without true-ups. One grouped read
 * of usage for all. A subscription whose spend cannot be computed is passed to `fail` and left out.
 */
export async function measureSpend(
  deps: BillingDeps,
  scope: Scope,
  ids: readonly string[],
  at: string,
  fail: (subscriptionId: string, error: unknown) => void,
): Promise<MeasuredSpend[]> {
  const [subscriptions, settings, defaults] = await Promise.all([
    findSubscriptions(deps.pool, scope, ids),
    settingsOfSubscriptions(deps.pool, scope, ids),
    readSetting(deps.pool, scope, 'subscription_alert_config'),
  ]);
  const bySubscription = groupBy(settings, (row) => row.parent_entity_id ?? row.entity_id);
  const isEnabled = defaults.alert_enabled === true;
  const all = subscriptions.flatMap((subscription) =>
    watchedOf(subscription, bySubscription.get(subscription.id) ?? [], defaultLevels(defaults)).map(
      (watched) => ({ ...watched, isEnabled }),
    ),
  );
  const last = await lastStatesOf(deps.pool, scope, all);
  const watched = all.filter(
    ({ settings, stream }) =>
      (isEnabled && settings.alert_enabled) || (last(stream) ?? 'ok') !== 'ok',
  );
  const asked = [...new Set(watched.map(({ subscription }) => subscription))];
  const computations = await computeInvoices(
    deps,
    deps.pool,
    scope,
    asked.map((subscription) => {
      const { current_period_start: start, current_period_end: end } = subscription;
      return cycleTarget(subscription, { start, end }, deps.settings);
    }),
    { at, user_id: '', ignoreBilled: true },
  );
  return computations.flatMap((computation, index) => {
    const subscription = asked[index]!;
    if (!computation.ok) {
      fail(subscription.id, computation.error);
      return [];
    }
    return watched
      .filter((each) => each.subscription === subscription)
      .map((each) => ({ ...each, spend: spendOf(each, computation.computed) }));
  });
}

/** The watched entities of a subscription. Without a setting of its own it has the default levels. */
function watchedOf(
  subscription: SubscriptionRow,
  settings: readonly AlertSetting[],
  defaults: SpendAlertSettings | null,
): Omit<Watched, 'isEnabled'>[] {
  const own = settings.map((row) => {
    const entity =
      row.entity_type === 'subscription_line_item' ? ('line_item' as const) : row.entity_type;
    const stream = { ...streamOf(subscription, entity), ...entityOf(row) };
    return { subscription, entity, stream, settings: row.config };
  });
  if (defaults === null || own.some(({ entity }) => entity === 'subscription')) return own;
  const stream = {
    ...streamOf(subscription, 'subscription'),
    entity_type: 'subscription' as const,
    entity_id: subscription.id,
    parent_entity_type: null,
    parent_entity_id: null,
  };
  return [...own, { subscription, entity: 'subscription', stream, settings: defaults }];
}

const ALERT_TYPES = {
  subscription: 'subscription_spend',
  line_item: 'subscription_line_item_spend',
  group: 'subscription_group_spend',
} as const;

const streamOf = (subscription: SubscriptionRow, entity: Watched['entity']) => ({
  alert_type: ALERT_TYPES[entity],
  period_start: subscription.current_period_start,
});

const entityOf = (row: AlertSetting) => ({
  entity_type: row.entity_type,
  entity_id: row.entity_id,
  parent_entity_type: row.parent_entity_type,
  parent_entity_id: row.parent_entity_id,
});

/** The environment's levels for subscriptions without a setting of their own; null if it has none. */
function defaultLevels(
  config: Partial<Pick<SpendAlertSettings, 'critical' | 'warning' | 'info'>>,
): SpendAlertSettings | null {
  const { critical = null, warning = null, info = null } = config;
  if (critical === null && warning === null && info === null) return null;
  return { alert_enabled: true, critical, warning, info };
}

function spendOf(
  { subscription, entity, stream }: Watched,
  { lines, sources }: ComputedInvoice,
): Decimal {
  const groupOf = new Map(
    (sources.lines.get(subscription.id) ?? []).map((line) => [line.id, line.price.group_id]),
  );
  const counted = lines.filter(
    (row) =>
      row.price_type === 'USAGE' &&
      row.kind !== 'true_up' &&
      row.subscription_id === subscription.id &&
      (entity !== 'line_item' || row.subscription_line_item_id === stream.entity_id) &&
      (entity !== 'group' || groupOf.get(row.subscription_line_item_id ?? '') === stream.entity_id),
  );
  return sum(counted.map(({ amount }) => decimal(amount)));
}

const lastStatesOf = (
  db: Parameters<typeof lastAlertStates>[0],
  scope: Scope,
  watched: readonly { readonly stream: AlertStream; readonly subscription: SubscriptionRow }[],
) =>
  lastAlertStates(
    db,
    scope,
    watched.map(({ stream }) => stream.entity_id),
    watched.map(({ subscription }) => subscription.current_period_start),
  );

/**
 * Logs and announces the changes of state (money 20.4, 20.5); returns how many there were. The caller's lease
 * excludes a second evaluation of the same subscriptions.
 */
export async function writeSpendAlerts(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  measured: readonly MeasuredSpend[],
  at: string,
): Promise<number> {
  const { scope } = caller;
  const last = await lastStatesOf(tx, scope, measured);
  const changes = measured.flatMap((each) => {
    const previous = last(each.stream);
    const state = spendAlertState(each.settings, each.isEnabled, each.spend, previous ?? 'ok');
    const transition = alertTransition(previous, state);
    return transition === null ? [] : [{ ...each, ...transition }];
  });
  const customers = await findCustomers(tx, scope, [
    ...new Set(changes.map(({ subscription }) => subscription.customer_id)),
  ]);
  for (const { subscription, stream, settings, spend, state, previous_state } of changes) {
    const { customer_id } = subscription;
    await insertAlertLog(tx, deps, caller, {
      ...stream,
      customer_id,
      state,
      value: spend,
      settings,
      at,
    });
    const customer = customers.find(({ id }) => id === customer_id) ?? null;
    await writeOutboxEvents(tx, [
      {
        scope,
        event_type: eventOf(stream, state),
        payload: {
          subscription: subscriptionSnapshot(subscription, customer),
          subscription_line_item_id:
            stream.entity_type === 'subscription_line_item' ? stream.entity_id : null,
          group_id: stream.entity_type === 'group' ? stream.entity_id : null,
          alert_type: stream.alert_type,
          alert_status: state,
          previous_status: previous_state,
          current_spend: decimalText(spend),
          currency: subscription.currency,
          threshold: levelOf(settings, state === 'ok' ? previous_state : state),
          triggered_at: at,
        },
      },
    ]);
  }
  return changes.length;
}

function eventOf({ entity_type }: AlertStream, state: AlertState) {
  const change = state === 'ok' ? ('recovered' as const) : ('reached' as const);
  switch (entity_type) {
    case 'subscription_line_item':
      return `subscription.line_item_spend.threshold_${change}` as const;
    case 'group':
      return `subscription.group_spend.threshold_${change}` as const;
    default:
      return `subscription.spend.threshold_${change}` as const;
  }
}

/** The threshold of the level of that state; null if the level has been removed. */
function levelOf(settings: SpendAlertSettings, state: AlertState): string | null {
  const levels = {
    ok: null,
    info: settings.info,
    warning: settings.warning,
    in_alarm: settings.critical,
  };
  return levels[state]?.threshold ?? null;
}
