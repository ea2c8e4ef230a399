import type { z } from 'zod';
import type { RawEventRow } from '../../../clickhouse/rows.ts';
import { compileMeter, multipliedValue } from '../../../domain/metering/meter-event.ts';
import { refuseSetAside } from '../../../domain/metering/set-aside.ts';
import { versionToShow } from '../../../domain/metering/version-for-period.ts';
import { Decimal, ZERO } from '../../../domain/money.ts';
import { rate } from '../../../domain/pricing/rate.ts';
import { isoText } from '../../../domain/time/instant.ts';
import type { Scope } from '../../../postgres/client.ts';
import { meterVersionsOf } from '../../../postgres/tables/meter-versions.ts';
import type { EventCosts } from '../../../schemas/event-monitoring.ts';
import type { ApiDeps } from '../../deps.ts';
import { groupBy } from '../../../domain/group-by.ts';
import { withPrices } from '../computing/billing-sources.ts';
import { lineItemsOf } from '../records/subscription-repository.ts';
import { propertiesOf, textsOf } from '../../usage/events/answers.ts';
import { rates } from './fed-lines.ts';
import { customersByExternalIds, subscriptionsOfCustomers } from '../../usage/events/repository.ts';

const NANO = new Decimal(10).pow(9);

/**
 * The cost of each event alone, in billionths of a dollar, in the requested order: its quantity times the
 * price of every USD usage line of its customer that rates it at its time, as if it were the only event of
 * its period. An event that is unknown, voided or not rated costs 0.
 */
export async function eventCosts(
  deps: ApiDeps,
  scope: Scope,
  requestIds: readonly string[],
): Promise<z.infer<typeof EventCosts>> {
  const events = await deps.eventReader.countedCopies({
    ...scope,
    event_ids: [...new Set(requestIds)],
  });
  const costOf = await costsBy(deps, scope, events);
  const costs = new Map(events.map((event) => [event.event_id, costOf(event)]));
  return {
    requests: requestIds.map((requestId) => ({
      requestId,
      costNanoUsd: (costs.get(requestId) ?? ZERO).times(NANO).round().toFixed(),
    })),
  };
}

async function costsBy(
  deps: ApiDeps,
  scope: Scope,
  events: readonly RawEventRow[],
): Promise<(event: RawEventRow) => Decimal> {
  const { pool } = deps;
  const externalIds = [...new Set(events.map((event) => event.external_customer_id))];
  const customers = await customersByExternalIds(pool, scope, externalIds);
  const subscriptions = await subscriptionsOfCustomers(
    pool,
    scope,
    customers.map(({ id }) => id),
  );
  const items = await lineItemsOf(
    pool,
    scope,
    subscriptions.map(({ id }) => id),
  );
  const lines = await withPrices(
    pool,
    scope,
    items.filter((item) => item.price_type === 'USAGE' && item.meter_id !== null),
  );
  const meterIds = [...new Set(lines.map((line) => line.meter_id!))];
  const versions = groupBy(
    await meterVersionsOf(pool, scope, meterIds),
    ({ meter_id }) => meter_id,
  );
  const customerOf = new Map(customers.map(({ id, external_id }) => [id, external_id]));
  const ownerOf = new Map(
    subscriptions.map((subscription) => [
      subscription.id,
      customerOf.get(subscription.customer_id),
    ]),
  );
  const bySubscription = groupBy(lines, (line) => line.subscription_id);
  return (event) => {
    const at = isoText(event.timestamp);
    const properties = propertiesOf(event) ?? {};
    const texts = textsOf(properties);
    return lines
      .filter((line) => ownerOf.get(line.subscription_id) === event.external_customer_id)
      .filter((line) => line.currency === 'usd')
      .filter((line) =>
        rates(line, bySubscription.get(line.subscription_id)!, event.timestamp, texts),
      )
      .reduce((sum, line) => {
        const version = versionToShow(versions.get(line.meter_id!) ?? [], [], at);
        if (version === null) return sum;
        refuseSetAside(version);
        const metering = compileMeter(version)({ event_name: event.event_name, properties });
        if (metering.outcome !== 'metered') return sum;
        const quantity = new Decimal(multipliedValue(version.spec, metering.value));
        return sum.plus(rate(line.terms.model, quantity).amount);
      }, ZERO);
  };
}
