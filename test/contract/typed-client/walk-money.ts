import type { Walker } from './client.ts';

/** Coupons, tax rates and their associations, costsheets. */
export async function walkCouponsTaxesCosts({ walk }: Walker, customerId: string): Promise<void> {
  const coupon = await walk('POST /coupons', (sdk) =>
    sdk.coupons.createCoupon({
      name: 'Ten', type: 'percentage', percentageOff: '10', cadence: 'repeated', durationInPeriods: 3,
      maxRedemptions: 5, metadata: { a: 'b' },
    }),
  ); // prettier-ignore
  await walk('GET /coupons/{id}', (sdk) => sdk.coupons.getCoupon(coupon.id!));
  await walk('POST /coupons/search', (sdk) => sdk.coupons.queryCoupon({ limit: 10 }));
  await walk('PUT /coupons/{id}', (sdk) => sdk.coupons.updateCoupon(coupon.id!, { name: 'X' }));
  await walk('DELETE /coupons/{id}', (sdk) => sdk.coupons.deleteCoupon(coupon.id!));

  const rate = await walk('POST /taxes/rates', (sdk) =>
    sdk.taxRates.createTaxRate({
      name: 'VAT', code: 'walk-vat', taxRateType: 'percentage', percentageValue: '20',
    }),
  ); // prettier-ignore
  await walk('GET /taxes/rates/{id}', (sdk) => sdk.taxRates.getTaxRate(rate.id!));
  await walk('PUT /taxes/rates/{id}', (sdk) =>
    sdk.taxRates.updateTaxRate(rate.id!, { name: 'VAT 20' }),
  );
  await walk('GET /taxes/rates', (sdk) => sdk.taxRates.getTaxRates());
  const association = await walk('POST /taxes/associations', (sdk) =>
    sdk.taxAssociations.createTaxAssociation({
      taxRateCode: 'walk-vat', entityType: 'customer', entityId: customerId, priority: 1,
    }),
  ); // prettier-ignore
  const id = association.id!;
  await walk('GET /taxes/associations/{id}', (sdk) => sdk.taxAssociations.getTaxAssociation(id));
  await walk('GET /taxes/associations', (sdk) =>
    sdk.taxAssociations.listTaxAssociations('customer', customerId),
  );
  await walk('PUT /taxes/associations/{id}', (sdk) =>
    sdk.taxAssociations.updateTaxAssociation(id, { priority: 2 }),
  );
  await walk('DELETE /taxes/associations/{id}', (sdk) =>
    sdk.taxAssociations.deleteTaxAssociation(id),
  );
  await walk('DELETE /taxes/rates/{id}', (sdk) => sdk.taxRates.deleteTaxRate(rate.id!));

  const made = await walk('POST /costs', (sdk) =>
    sdk.costs.createCostsheet({ name: 'Infra', lookupKey: 'walk-infra', metadata: { a: 'b' } }),
  );
  const costsheetId = made.costsheet!.id!;
  await walk('GET /costs/{id}', (sdk) => sdk.costs.getCostsheet(costsheetId));
  await walk('GET /costs/active', (sdk) => sdk.costs.getActiveCostsheet());
  await walk('POST /costs/search', (sdk) =>
    sdk.costs.queryCostsheet({ lookupKey: 'walk-infra', queryFilter: { limit: 1 } }),
  );
  await walk('PUT /costs/{id}', (sdk) => sdk.costs.updateCostsheet(costsheetId, { name: 'All' }));
  const range = { startTime: '2026-11-01T00:00:00Z', endTime: '2026-11-21T00:00:00Z' };
  await walk('POST /costs/analytics', (sdk) => sdk.costs.getDetailedCostAnalytics(range as never));
  await walk('POST /costs/analytics-v2', (sdk) =>
    sdk.costs.getDetailedCostAnalyticsV2(range as never),
  );
  await walk('DELETE /costs/{id}', (sdk) => sdk.costs.deleteCostsheet(costsheetId));
}
