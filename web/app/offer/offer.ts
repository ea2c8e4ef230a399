import type { ApiRecord } from '../../client/api.ts';

/** What subscriptions are offered: a plan, or an addon beside a plan. */
export interface Offer {
  readonly kind: 'plan' | 'addon';
  readonly id: string;
  /** False: it is archived, nothing is added to it. */
  readonly isOpen: boolean;
  readonly prices: readonly ApiRecord<'Price'>[];
  readonly entitlements: readonly ApiRecord<'Entitlement'>[];
  readonly creditGrants: readonly ApiRecord<'CreditGrant'>[];
}

/** The plan or addon with its parts; they are embedded when it is read alone. */
export const offerOf = (
  kind: Offer['kind'],
  record: Pick<
    ApiRecord<'Plan'> | ApiRecord<'Addon'>,
    'id' | 'status' | 'prices' | 'entitlements' | 'credit_grants'
  >,
): Offer => ({
  kind,
  id: record.id,
  isOpen: record.status === 'published',
  prices: record.prices ?? [],
  entitlements: record.entitlements ?? [],
  creditGrants: record.credit_grants ?? [],
});

/** What has prices: an offer, or a cost sheet, whose prices are what usage costs the company itself. */
export interface Priced extends Pick<Offer, 'id' | 'isOpen' | 'prices'> {
  readonly kind: Offer['kind'] | 'cost sheet';
}

/** How routes name it. */
export const ENTITY = { plan: 'PLAN', addon: 'ADDON', 'cost sheet': 'COSTSHEET' } as const;

/** The page with all of them, and the part of the address before an id. */
export const LIST = { plan: '/plans', addon: '/addons', 'cost sheet': '/cost-sheets' } as const;

/** The field of a request with its id: `{ plan_id }` or `{ addon_id }`. */
export const ownerField = ({ kind, id }: Pick<Offer, 'kind' | 'id'>) =>
  kind === 'plan' ? { plan_id: id } : { addon_id: id };
