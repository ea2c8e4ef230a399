import type { Walker } from './client.ts';

/** What other walks refer to. */
export interface WalkedCatalog {
  readonly planId: string;
  readonly meterId: string;
  readonly eventName: string;
}

/** Plans, prices, units, features, groups, entitlements, addons, grants: made, read, changed, deleted. */
export async function walkCatalog({ walk }: Walker): Promise<WalkedCatalog> {
  const group = await walk('POST /groups', (sdk) =>
    sdk.groups.createGroup({ name: 'G', lookupKey: 'walk-group', entityType: 'price' }),
  );
  await walk('GET /groups/{id}', (sdk) => sdk.groups.getGroup(group.id!));
  await walk('POST /groups/search', (sdk) => sdk.groups.queryGroup({ limit: 10 }));

  const alert = {
    alertEnabled: true,
    critical: { threshold: 5, condition: 'below' as const },
    warning: { threshold: 10, condition: 'below' as const },
  };
  const feature = await walk('POST /features', (sdk) =>
    sdk.features.createFeature({
      name: 'Calls',
      lookupKey: 'walk-calls',
      type: 'metered',
      metadata: { a: 'b' },
      alertSettings: alert as never,
      meter: {
        name: 'Calls',
        eventName: 'walk',
        aggregation: { type: 'SUM', field: 'n' },
        filters: [{ key: 'region', values: ['eu'] }],
        resetUsage: 'BILLING_PERIOD',
      },
    }),
  );
  const flag = await walk('POST /features', (sdk) =>
    sdk.features.createFeature({ name: 'Flag', lookupKey: 'walk-flag', type: 'boolean' }),
  );
  await walk('PUT /features/{id}', (sdk) =>
    sdk.features.updateFeature(feature.id!, { name: 'Calls, all' }),
  );
  await walk('POST /features/search', (sdk) =>
    sdk.features.queryFeature({ limit: 10, expand: 'meters' } as never),
  );

  const plan = await walk('POST /plans', (sdk) =>
    sdk.plans.createPlan({ name: 'Pro', lookupKey: 'walk-pro', description: 'All of it' }),
  );
  const planId = plan.id!;

  await walk('POST /prices/units', (sdk) =>
    sdk.priceUnits.createPriceUnit({
      name: 'Credit', code: 'wlk', symbol: 'c', baseCurrency: 'usd', conversionRate: '0.5',
    }),
  ); // prettier-ignore
  const unit = await walk('GET /prices/units/code/{code}', (sdk) =>
    sdk.priceUnits.getPriceUnitByCode('wlk'),
  );
  await walk('GET /prices/units/{id}', (sdk) => sdk.priceUnits.getPriceUnit(unit.id!));
  await walk('GET /prices/units', (sdk) => sdk.priceUnits.listPriceUnits());
  await walk('POST /prices/units/search', (sdk) => sdk.priceUnits.queryPriceUnit({ limit: 5 }));
  await walk('PUT /prices/units/{id}', (sdk) =>
    sdk.priceUnits.updatePriceUnit(unit.id!, { name: 'Credits' }),
  );

  const monthly = {
    billingCadence: 'RECURRING', billingPeriod: 'MONTHLY', billingPeriodCount: 1,
    entityType: 'PLAN', entityId: planId, currency: 'usd',
  } as const; // prettier-ignore
  const flat = { ...monthly, type: 'FIXED', billingModel: 'FLAT_FEE', amount: '10' } as const;
  const fee = await walk('POST /prices', (sdk) =>
    sdk.prices.createPrice({
      ...flat, priceUnitType: 'FIAT', invoiceCadence: 'ADVANCE', lookupKey: 'walk-fee', groupId: group.id,
      displayName: 'Base fee', metadata: { a: 'b' },
    }),
  ); // prettier-ignore
  const tiered = await walk('POST /prices/bulk', (sdk) =>
    sdk.prices.createPricesBulk({
      items: [
        {
          ...monthly, type: 'USAGE', billingModel: 'TIERED', tierMode: 'VOLUME', meterId: feature.meterId,
          invoiceCadence: 'ARREAR', priceUnitType: 'FIAT', filterValues: { region: ['eu'] },
          tiers: [{ upTo: 10, unitAmount: '1', flatAmount: '2' }, { unitAmount: '0.5' }],
        },
        {
          ...monthly, type: 'USAGE', billingModel: 'PACKAGE', meterId: feature.meterId, amount: '1',
          invoiceCadence: 'ARREAR', priceUnitType: 'FIAT',
          transformQuantity: { divideBy: 1000, round: 'up' },
        },
        {
          ...monthly, type: 'FIXED', billingModel: 'FLAT_FEE', invoiceCadence: 'ADVANCE',
          priceUnitType: 'CUSTOM', priceUnitConfig: { priceUnit: 'wlk', amount: '4' },
        },
      ],
    }),
  ); // prettier-ignore
  await walk('GET /prices/{id}', (sdk) => sdk.prices.getPrice(fee.id!));
  await walk('GET /prices/lookup/{lookup_key}', (sdk) =>
    sdk.prices.getPriceByLookupKey('walk-fee'),
  );
  await walk('POST /prices/search', (sdk) =>
    sdk.prices.queryPrice({ expand: 'plan,meters,priceunit,groups', limit: 10 }),
  );
  await walk('PUT /prices/{id}', (sdk) =>
    sdk.prices.updatePrice(fee.id!, { amount: '12' } as never),
  );

  const limit = await walk('POST /entitlements', (sdk) =>
    sdk.entitlements.createEntitlement({
      planId, featureId: feature.id!, featureType: 'metered', usageLimit: 100,
      usageResetPeriod: 'MONTHLY', isEnabled: true,
    }),
  ); // prettier-ignore
  await walk('POST /entitlements/bulk', (sdk) =>
    sdk.entitlements.createEntitlementsBulk({
      items: [{ planId, featureId: flag.id!, featureType: 'boolean', isEnabled: true }],
    }),
  );
  await walk('GET /entitlements/{id}', (sdk) => sdk.entitlements.getEntitlement(limit.id!));
  await walk('PUT /entitlements/{id}', (sdk) =>
    sdk.entitlements.updateEntitlement(limit.id!, { usageLimit: 200 }),
  );
  await walk('POST /entitlements/search', (sdk) =>
    sdk.entitlements.queryEntitlement({ expand: 'features,plans', limit: 10 } as never),
  );

  const grant = await walk('POST /creditgrants', (sdk) =>
    sdk.creditGrants.createCreditGrant({
      name: 'Welcome', scope: 'PLAN', planId, credits: '5', cadence: 'RECURRING', period: 'MONTHLY',
      periodCount: 1, expirationType: 'DURATION', expirationDuration: 1,
      expirationDurationUnit: 'MONTH', priority: 1,
    } as never),
  ); // prettier-ignore
  await walk('GET /creditgrants/{id}', (sdk) => sdk.creditGrants.getCreditGrant(grant.id!));
  await walk('PUT /creditgrants/{id}', (sdk) =>
    sdk.creditGrants.updateCreditGrant(grant.id!, { name: 'Hello' }),
  );
  await walk('GET /plans/{id}/creditgrants', (sdk) => sdk.creditGrants.getPlanCreditGrants(planId));

  await walk('GET /plans/{id}', (sdk) => sdk.plans.getPlan(planId));
  await walk('PUT /plans/{id}', (sdk) => sdk.plans.updatePlan(planId, { description: 'More' }));
  await walk('POST /plans/search', (sdk) =>
    sdk.plans.queryPlan({ expand: 'prices,entitlements,credit_grants', limit: 10 } as never),
  );
  await walk('GET /plans/{id}/entitlements', (sdk) => sdk.entitlements.getPlanEntitlements(planId));
  const copy = await walk('POST /plans/{id}/clone', (sdk) =>
    sdk.plans.postPlansIdClone(planId, { name: 'Copy', lookupKey: 'walk-copy' }),
  );
  await walk('POST /plans/{id}/sync/subscriptions', (sdk) => sdk.plans.syncPlanPrices(planId));

  await walkAddons({ walk } as Walker, flag.id!);

  await walk('DELETE /creditgrants/{id}', (sdk) => sdk.creditGrants.deleteCreditGrant(grant.id!));
  await walk('DELETE /entitlements/{id}', (sdk) => sdk.entitlements.deleteEntitlement(limit.id!));
  await walk('DELETE /prices/{id}', (sdk) =>
    sdk.prices.deletePrice(tiered.items![2]!.id!, { endDate: '2027-01-01T00:00:00Z' }),
  );
  await walk('DELETE /plans/{id}', (sdk) => sdk.plans.deletePlan(copy.id!));
  const spare = await walk('POST /features', (sdk) =>
    sdk.features.createFeature({ name: 'Spare', lookupKey: 'walk-spare', type: 'static' }),
  );
  await walk('DELETE /features/{id}', (sdk) => sdk.features.deleteFeature(spare.id!));
  await walk('POST /prices/units', (sdk) =>
    sdk.priceUnits.createPriceUnit({
      name: 'Spare', code: 'spr', symbol: 's', baseCurrency: 'usd', conversionRate: '1',
    }),
  ); // prettier-ignore
  const spareUnit = await walk('GET /prices/units/code/{code}', (sdk) =>
    sdk.priceUnits.getPriceUnitByCode('spr'),
  );
  await walk('DELETE /prices/units/{id}', (sdk) => sdk.priceUnits.deletePriceUnit(spareUnit.id!));
  const spareGroup = await walk('POST /groups', (sdk) =>
    sdk.groups.createGroup({ name: 'S', lookupKey: 'walk-spare', entityType: 'feature' }),
  );
  await walk('DELETE /groups/{id}', (sdk) => sdk.groups.deleteGroup(spareGroup.id!));
  return { planId, meterId: feature.meterId!, eventName: 'walk' };
}

async function walkAddons({ walk }: Walker, featureId: string): Promise<void> {
  await walk('POST /addons', (sdk) =>
    sdk.addons.createAddon({ name: 'Extra', lookupKey: 'walk-extra', type: 'onetime' }),
  );
  const addon = await walk('GET /addons/lookup/{lookup_key}', (sdk) =>
    sdk.addons.getAddonByLookupKey('walk-extra'),
  );
  const id = addon.id!;
  await walk('POST /entitlements', (sdk) =>
    sdk.entitlements.createEntitlement({
      entityType: 'ADDON', entityId: id, featureId, featureType: 'boolean', isEnabled: true,
    }),
  ); // prettier-ignore
  await walk('GET /addons/{id}', (sdk) => sdk.addons.getAddon(id));
  await walk('PUT /addons/{id}', (sdk) => sdk.addons.updateAddon(id, { name: 'Extras' }));
  await walk('POST /addons/search', (sdk) => sdk.addons.queryAddon({ limit: 10 }));
  await walk('GET /addons/{id}/entitlements', (sdk) => sdk.entitlements.getAddonEntitlements(id));
  await walk('DELETE /addons/{id}', (sdk) => sdk.addons.deleteAddon(id));
}
