import { invalidField, notFound } from '../../../domain/errors.ts';
import { payerOf } from '../../../domain/subscription/hierarchy.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import type { InvoiceRowBody } from '../../../schemas/invoice-requests.ts';
import { findMeters } from '../../catalog/meters/repository.ts';
import { findAddonRows } from '../../catalog/offers/addon-repository.ts';
import { findPlanRows } from '../../catalog/offers/plan-repository.ts';
import { publishedUnitByCode } from '../../catalog/price-units/repository.ts';
import { findPrices } from '../../catalog/prices/repository.ts';
import { findSubscriptions } from '../records/subscription-repository.ts';

type Row = Pick<
  InvoiceRowBody,
  'price_id' | 'meter_id' | 'price_unit' | 'entity_type' | 'entity_id'
>;

/** A written row of the request, and its path in it. */
export interface NamingRow {
  readonly row: Row;
  readonly path: string;
}

const ENTITIES = ['plan', 'addon', 'subscription'] as const;
type EntityType = (typeof ENTITIES)[number];

/**
 * Checks what written rows name (billing 17.1): 404 for a price, meter, pricing unit, plan, addon or subscription that
 * the scope does not have; 400 for a subscription of another customer, and for a price of such a subscription.
 */
export async function assertReferences(
  db: Db,
  scope: Scope,
  customerId: string,
  rows: readonly NamingRow[],
): Promise<void> {
  const named = (field: 'price_id' | 'meter_id' | 'price_unit') => [
    ...new Set(rows.flatMap(({ row }) => row[field] || [])),
  ];
  const prices = await findPrices(db, scope, named('price_id'));
  assertAll('Price', named('price_id'), prices);
  assertAll('Meter', named('meter_id'), await findMeters(db, scope, named('meter_id')));
  for (const code of named('price_unit'))
    if ((await publishedUnitByCode(db, scope, code)) === null) throw notFound('Price unit', code);

  const entities = rows.flatMap(({ row, path }) =>
    row.entity_id ? [{ id: row.entity_id, type: entityType(row, path), path }] : [],
  );
  const idsOf = (type: EntityType): string[] => [
    ...new Set(entities.flatMap((entity) => (entity.type === type ? entity.id : []))),
  ];
  assertAll('Plan', idsOf('plan'), await findPlanRows(db, scope, idsOf('plan')));
  assertAll('Addon', idsOf('addon'), await findAddonRows(db, scope, idsOf('addon')));

  const ownerOf = new Map(
    prices.flatMap((price): [string, string][] =>
      price.entity_type === 'SUBSCRIPTION' ? [[price.id, price.entity_id]] : [],
    ),
  );
  const subscriptions = await findSubscriptions(db, scope, [
    ...new Set([...idsOf('subscription'), ...ownerOf.values()]),
  ]);
  assertAll('Subscription', idsOf('subscription'), subscriptions);
  const isOfCustomer = (id: string): boolean =>
    subscriptions.some(
      (subscription) =>
        subscription.id === id &&
        [subscription.customer_id, payerOf(subscription)].includes(customerId),
    );
  for (const { id, type, path } of entities)
    if (type === 'subscription' && !isOfCustomer(id))
      throw invalidField(`${path}.entity_id`, `subscription ${id} is of another customer`);
  for (const { row, path } of rows) {
    const owner = ownerOf.get(row.price_id ?? '');
    if (owner !== undefined && !isOfCustomer(owner))
      throw invalidField(`${path}.price_id`, `${row.price_id} is a price of another customer`);
  }
}

function assertAll(
  noun: string,
  ids: readonly string[],
  found: readonly { readonly id: string }[],
): void {
  const known = new Set(found.map(({ id }) => id));
  const missing = ids.find((id) => !known.has(id));
  if (missing !== undefined) throw notFound(noun, missing);
}

function entityType({ entity_type: given }: Row, path: string): EntityType {
  const type = ENTITIES.find((known) => known === given?.toLowerCase());
  if (type !== undefined) return type;
  throw invalidField(
    `${path}.entity_type`,
    'must be plan, addon or subscription if entity_id is sent',
  );
}
