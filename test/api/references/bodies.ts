import type { Records } from '../../support/reference-records.ts';

/** One request that writes, and names records in its path or its body. */
export interface Naming {
  /** `POST /plans/{id}/clone`, as in the document. */
  readonly route: string;
  readonly path?: (own: Records) => string;
  readonly body: (own: Records) => object;
}

let counter = 0;
const unique = (word: string): string => `${word}-${(counter += 1)}`;

const USD = { currency: 'usd', billing_period: 'MONTHLY' };
const FEE = {
  type: 'FIXED', billing_model: 'FLAT_FEE', billing_period: 'MONTHLY', invoice_cadence: 'ADVANCE', amount: '5',
}; // prettier-ignore
const METERED = { ...FEE, type: 'USAGE', invoice_cadence: 'ARREAR', amount: '2' };
const IN_UNITS = { ...FEE, amount: undefined, price_unit_type: 'CUSTOM' };
const LATER = '2027-11-01T00:00:00Z';
const ALERT = { alert_enabled: true, critical: { threshold: '100', condition: 'above' } };

const priced = (own: Records): object[] => [
  { ...METERED, meter_id: own['freeMeter'], group_id: own['group'] },
  { ...IN_UNITS, price_unit_config: { price_unit: own['unitCode'], amount: '100' } },
];
/** What the terms of a subscription, of a phase and of an addon name. */
const terms = (own: Records): object => ({
  line_items: [{ price_id: own['otherPrice'] }, ...priced(own).map((price) => ({ price }))],
  override_line_items: [{ price_id: own['price'], quantity: '3' }],
  line_item_commitments: { [own['usagePrice']!]: { commitment_amount: '5', overage_factor: '2' } },
  coupons: [own['coupon']],
  line_item_coupons: { [own['price']!]: [own['coupon']] },
  subscription_coupons: [{ coupon_code: own['otherCouponCode'], price_id: own['price'] }],
});
const addonTerms = (own: Records): object => ({
  addon_id: own['addon'],
  override_line_items: [{ price_id: own['addonPrice'], amount: '3' }],
});
const subscription = (own: Records): object => ({
  ...USD,
  customer_id: own['customer'],
  plan_id: own['plan'],
});
const ofSubscription = (rest: string) => (own: Records) =>
  `/subscriptions/${own['subscription']}${rest}`;
const row = { amount: '5', quantity: '1', display_name: 'Fee' };
const oneOff = (own: Records): object => ({
  ...{ customer_id: own['customer'], invoice_type: 'ONE_OFF', currency: 'usd' },
});
const payment = { amount: '1', currency: 'usd' };
const checkout = { payment_provider: 'test', success_url: 'https://example.com' };
const link = (own: Records): object => ({
  ...{ entity_type: 'customer', entity_id: own['customer'], provider_type: 'stripe' },
});

const modifications = (own: Records): object[] => [
  {
    type: 'quantity_change',
    quantity_change_params: { line_items: [{ id: own['subscriptionLine'], quantity: '2' }] },
  },
  {
    type: 'coupon',
    coupon_params: {
      ...{ action: 'add', coupon_code: own['couponCode'] },
      subscription_line_item_id: own['subscriptionLine'],
    },
  },
  {
    type: 'coupon',
    coupon_params: { action: 'remove', coupon_association_id: own['couponAssociation'] },
  },
  { type: 'tax', tax_params: { action: 'add', tax_rate_id: own['otherTax'] } },
  { type: 'tax', tax_params: { action: 'add', tax_rate_code: own['otherTaxCode'] } },
  { type: 'tax', tax_params: { action: 'remove', tax_association_id: own['taxAssociation'] } },
  { type: 'addon', addon_params: { action: 'add', add: addonTerms(own) } },
  {
    type: 'addon',
    addon_params: {
      action: 'add',
      add: {
        addon_id: own['otherAddon'],
        line_item_commitments: {
          [own['addonUsagePrice']!]: { commitment_amount: '5', overage_factor: '2' },
        },
      },
    },
  },
  {
    type: 'addon',
    addon_params: { action: 'remove', remove: { addon_association_id: own['addonAssociation'] } },
  },
  {
    type: 'inheritance',
    inheritance_params: {
      action: 'add',
      external_customer_ids_to_inherit_subscription: [own['memberExternal']],
    },
  },
  {
    type: 'grouped_invoicing',
    grouped_invoicing_params: { action: 'add', child_subscription_ids: [own['laterSubscription']] },
  },
];
const toParent = (own: Records): object => ({
  type: 'grouped_invoicing',
  grouped_invoicing_params: { action: 'add', parent_subscription_id: own['subscription'] },
});

/** `own` builds the request; a test replaces one record in it. */
const of = (
  routes: string,
  path: string | ((own: Records) => string) | null,
  ...bodies: ((own: Records) => object)[]
): Naming[] =>
  routes.split(' | ').flatMap((route) =>
    bodies.map((body) => ({
      route,
      body,
      ...(path === null ? {} : { path: typeof path === 'string' ? () => path : path }),
    })),
  );

export const NAMINGS: readonly Naming[] = [
  ...of(
    'POST /customer/portal/invoices/{id}/pay',
    (own) => `/customer/portal/invoices/${own['invoice']}/pay`,
    (own) => ({ payment_method_id: own['paymentMethod'] }),
  ),
  ...of(
    'POST /environments/{id}/clone',
    (own) => `/environments/${own['environment']}/clone`,
    (own) => ({ target_environment_id: own['emptyEnvironment'] }),
  ),
  ...of('POST /secrets/api/keys', null, (own) => ({
    ...{ name: 'Bot', type: 'private_key', service_account_id: own['account'] },
  })),
  ...of(
    'POST /meters/{id}/backfill',
    (own) => `/meters/${own['meter']}/backfill`,
    (own) => ({ version_id: own['meterVersion'] }),
  ),
  ...of('POST /features', null, (own) => ({
    ...{ name: 'F', type: 'metered', meter_id: own['spareMeter'], group_id: own['featureGroup'] },
  })),
  ...of(
    'PUT /features/{id}',
    (own) => `/features/${own['flag']}`,
    (own) => ({ group_id: own['featureGroup'] }),
  ),
  ...of(
    'POST /prices',
    null,
    (own) => ({ ...priced(own)[0], ...USD, entity_type: 'PLAN', entity_id: own['shelfPlan'] }),
    (own) => ({ ...priced(own)[1], ...USD, entity_type: 'ADDON', entity_id: own['shelfAddon'] }),
    (own) => ({ ...priced(own)[0], ...USD, entity_type: 'COSTSHEET', entity_id: own['costsheet'] }),
    (own) => ({
      ...{ ...FEE, ...USD, entity_type: 'SUBSCRIPTION', entity_id: own['subscription'] },
    }),
  ),
  ...of('POST /prices/bulk', null, (own) => ({
    items: priced(own).map((price) => ({
      ...{ ...price, ...USD, entity_type: 'PLAN', entity_id: own['shelfPlan'] },
    })),
  })),
  ...of(
    'POST /prices/calculate',
    null,
    (own) => ({ price_id: own['price'], quantities: ['1'] }),
    ...[0, 1].map((index) => (own: Records) => ({
      quantities: ['1'],
      price: { ...priced(own)[index], ...USD, entity_type: 'PLAN', entity_id: own['plan'] },
    })),
  ),
  ...of(
    'PUT /prices/{id}',
    (own) => `/prices/${own['otherPrice']}`,
    (own) => ({ group_id: own['group'] }),
  ),
  ...of(
    'POST /prices/{id}/preview',
    (own) => `/prices/${own['otherPrice']}/preview`,
    (own) => ({ group_id: own['group'] }),
  ),
  ...of(
    'POST /entitlements',
    null,
    (own) => ({ plan_id: own['otherPlan'], feature_id: own['flag'], feature_type: 'boolean' }),
    (own) => ({
      ...{ entity_type: 'ADDON', entity_id: own['addon'], feature_id: own['flag'] },
      feature_type: 'boolean',
    }),
    (own) => ({
      ...{ entity_type: 'SUBSCRIPTION', entity_id: own['laterSubscription'], usage_limit: 3 },
      ...{ feature_id: own['otherFeature'], feature_type: 'metered' },
      ...{ usage_reset_period: 'MONTHLY', parent_entitlement_id: own['otherEntitlement'] },
    }),
  ),
  ...of('POST /entitlements/bulk', null, (own) => ({
    items: [
      { plan_id: own['plan'], feature_id: own['flag'], feature_type: 'boolean' },
      {
        ...{ entity_type: 'SUBSCRIPTION', entity_id: own['laterSubscription'], usage_limit: 3 },
        ...{ feature_id: own['otherFeature'], feature_type: 'metered' },
        ...{ usage_reset_period: 'MONTHLY', parent_entitlement_id: own['otherEntitlement'] },
      },
    ],
  })),
  ...of(
    'POST /creditgrants',
    null,
    ...[
      (own: Records) => ({ scope: 'PLAN', plan_id: own['shelfPlan'] }),
      (own: Records) => ({ scope: 'ADDON', addon_id: own['shelfAddon'] }),
      (own: Records) => ({
        ...{ scope: 'SUBSCRIPTION', subscription_id: own['subscription'], start_date: LATER },
      }),
    ].map((scope) => (own: Records) => ({
      ...{ name: 'W', credits: '5', cadence: 'ONETIME', expiration_type: 'NEVER', ...scope(own) },
    })),
  ),
  ...of(
    'POST /taxes/associations',
    null,
    (own) => ({
      ...{ tax_rate_code: own['otherTaxCode'], entity_type: 'customer' },
      entity_id: own['customer'],
    }),
    (own) => ({
      ...{ tax_rate_code: own['taxCode'], entity_type: 'customer' },
      external_customer_id: own['externalCustomer'],
    }),
    (own) => ({
      ...{ tax_rate_code: own['otherTaxCode'], entity_type: 'subscription' },
      entity_id: own['laterSubscription'],
    }),
    (own) => ({
      ...{ tax_rate_code: own['taxCode'], entity_type: 'invoice', entity_id: own['invoice'] },
    }),
  ),
  ...of('POST /customers', null, (own) => ({
    ...{ external_id: unique('new'), name: 'N', test_clock_id: own['clock'] },
    tax_rate_overrides: [{ tax_rate_code: own['taxCode'], currency: 'usd' }],
  })),
  ...of(
    'PUT /customers',
    (own) => `/customers?external_customer_id=${own['externalCustomer']}`,
    (own) => ({
      integration_entity_mapping: [{ ...link(own), provider_entity_id: unique('cus') }],
    }),
  ),
  ...of(
    'PUT /customers/{id}',
    (own) => `/customers/${own['customer']}`,
    (own) => ({
      integration_entity_mapping: [{ ...link(own), provider_entity_id: unique('cus') }],
    }),
  ),
  ...of(
    'POST /subscriptions/preview | POST /subscriptions',
    '/subscriptions',
    (own) => ({
      ...subscription(own),
      ...terms(own),
      addons: [addonTerms(own)],
      tax_rate_overrides: [{ tax_rate_code: own['taxCode'], currency: 'usd' }],
      credit_grants: [
        {
          ...{ scope: 'SUBSCRIPTION', name: 'W', credits: '5', cadence: 'ONETIME' },
          ...{ expiration_type: 'NEVER', plan_id: own['plan'] },
        },
      ],
      override_entitlements: [{ entitlement_id: own['entitlement'], usage_limit: 9 }],
      inheritance: {
        external_customer_ids_to_inherit_subscription: [own['memberExternal']],
        subscriptions_ids_for_grouped_invoicing: [],
      },
    }),
    (own) => ({
      ...{ ...USD, external_customer_id: own['externalCustomer'], plan_id: own['plan'] },
      include_price_ids: [own['price']],
      inheritance: { invoicing_customer_external_id: own['memberExternal'] },
    }),
    (own) => ({
      ...subscription(own),
      start_date: '2026-11-01T00:00:00Z',
      inheritance: { subscriptions_ids_for_grouped_invoicing: [own['laterSubscription']] },
    }),
    (own) => ({
      ...subscription(own),
      inheritance: { parent_subscription_id: own['subscription'] },
    }),
    (own) => ({ ...subscription(own), parent_subscription_id: own['subscription'] }),
    (own) => ({ ...subscription(own), gateway_payment_method_id: own['paymentMethod'] }),
    (own) => ({
      ...subscription(own),
      phases: [{ start_date: '2026-11-21T12:00:00Z', ...terms(own) }],
      start_date: '2026-11-21T12:00:00Z',
    }),
    (own) => ({
      ...subscription(own),
      addons: [
        {
          addon_id: own['otherAddon'],
          line_item_commitments: {
            [own['addonUsagePrice']!]: { commitment_amount: '5', overage_factor: '2' },
          },
        },
      ],
    }),
  ),
  ...of(
    'PUT /subscriptions/{id}',
    (own) => `/subscriptions/${own['laterSubscription']}`,
    (own) => ({ parent_subscription_id: own['subscription'] }),
  ),
  ...of(
    'POST /subscriptions/{id}/phases',
    (own) => `/subscriptions/${own['phasedSubscription']}/phases`,
    (own) => ({ start_date: LATER, ...terms(own) }),
  ),
  ...of(
    'POST /subscriptions/{id}/lineitems',
    ofSubscription('/lineitems'),
    (own) => ({ price_id: own['otherPrice'] }),
    ...[0, 1].map((index) => (own: Records) => ({ price: priced(own)[index] })),
  ),
  ...of(
    'POST /subscriptions/{id}/lineitems',
    (own) => `/subscriptions/${own['phasedSubscription']}/lineitems`,
    (own) => ({ price_id: own['otherPrice'], subscription_phase_id: own['phase'] }),
  ),
  ...[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10].flatMap((index) =>
    of(
      'POST /subscriptions/{id}/modify/preview | POST /subscriptions/{id}/modify/execute',
      ofSubscription('/modify/execute'),
      (own) => modifications(own)[index]!,
    ),
  ),
  ...of(
    'POST /subscriptions/{id}/modify/preview | POST /subscriptions/{id}/modify/execute',
    (own) => `/subscriptions/${own['laterSubscription']}/modify/execute`,
    toParent,
  ),
  ...of(
    'POST /subscriptions/{id}/modify/preview | POST /subscriptions/{id}/modify/execute',
    (own) => `/subscriptions/${own['phasedSubscription']}/modify/execute`,
    (own) => ({
      type: 'inheritance',
      inheritance_params: {
        ...{ action: 'remove', external_customer_ids_to_remove: [own['inheritingExternal']] },
      },
    }),
  ),
  ...of(
    'POST /subscriptions/{id}/change/v2/preview | POST /subscriptions/{id}/change/v2/execute',
    ofSubscription('/change/v2/execute'),
    (own) => ({ target_plan_id: own['otherPlan'] }),
    (own) => ({
      target_plan_id: own['otherPlan'],
      entity_policies: { addons: { overrides: { [own['addonAssociation']!]: 'carry' } } },
    }),
  ),
  ...of(
    'POST /subscriptions/{id}/change/preview | POST /subscriptions/{id}/change/execute',
    ofSubscription('/change/execute'),
    (own) => ({
      ...{ target_plan_id: own['otherPlan'], proration_behavior: 'none' },
      ...{ billing_cadence: 'RECURRING', billing_period: 'MONTHLY', billing_cycle: 'anniversary' },
    }),
  ),
  ...of('POST /invoices/preview', null, (own) => ({ subscription_id: own['subscription'] })),
  ...of('POST /subscriptions/usage', null, (own) => ({ subscription_id: own['subscription'] })),
  ...of('POST /subscriptions/schedules/cancel', null, (own) => ({
    ...{ schedule_id: own['schedule'], subscription_id: own['laterSubscription'] },
  })),
  ...of(
    'POST /subscriptions/schedules/{schedule_id}/cancel',
    (own) => `/subscriptions/schedules/${own['schedule']}/cancel`,
    (own) => ({ schedule_id: own['schedule'], subscription_id: own['laterSubscription'] }),
  ),
  ...of(
    'POST /v1/subscriptions/schedules/{schedule_id}/cancel',
    (own) => `/v1/subscriptions/schedules/${own['schedule']}/cancel`,
    (own) => ({ schedule_id: own['schedule'], subscription_id: own['laterSubscription'] }),
  ),
  ...of(
    'POST /subscriptions/addon',
    null,
    (own) => ({ ...addonTerms(own), subscription_id: own['laterSubscription'] }),
    (own) => ({
      ...{ addon_id: own['otherAddon'], subscription_id: own['laterSubscription'] },
      line_item_commitments: {
        [own['addonUsagePrice']!]: { commitment_amount: '5', overage_factor: '2' },
      },
    }),
  ),
  ...of('DELETE /subscriptions/addon', null, (own) => ({
    addon_association_id: own['addonAssociation'],
  })),
  ...of(
    'POST /invoices/one-off/preview | POST /invoices',
    '/invoices',
    (own) => ({
      ...oneOff(own),
      line_items: [
        {
          ...{ ...row, price_id: own['price'], meter_id: own['meter'] },
          ...{ entity_type: 'plan', entity_id: own['plan'] },
          ...{ price_unit: own['unitCode'], price_unit_amount: '500' },
        },
      ],
      coupons: [own['coupon']],
      line_item_coupons: [{ coupon_id: own['coupon'], line_item_id: own['price'] }],
      tax_rates: [own['tax']],
    }),
    (own) => ({
      ...{ ...oneOff(own), line_items: [row], invoice_coupons: [{ coupon_id: own['coupon'] }] },
      tax_rate_overrides: [{ tax_rate_code: own['taxCode'], currency: 'usd' }],
    }),
    (own) => ({ ...oneOff(own), subscription_id: own['subscription'], line_items: [row] }),
  ),
  ...of('POST /invoices', null, (own) => ({
    ...{ ...oneOff(own), invoice_type: 'SUBSCRIPTION', subscription_id: own['subscription'] },
  })),
  ...of(
    'POST /invoices/{id}/modify/execute',
    (own) => `/invoices/${own['invoice']}/modify/execute`,
    (own) => ({
      line_items: [
        {
          ...{ ...row, action: 'add', price_id: own['price'], meter_id: own['meter'] },
          ...{ entity_type: 'plan', entity_id: own['plan'] },
          ...{ price_unit: own['unitCode'], price_unit_amount: '500' },
        },
      ],
    }),
    (own) => ({ line_items: [{ action: 'update', id: own['invoiceLine'], amount: '51' }] }),
  ),
  ...of(
    'POST /payments',
    null,
    (own) => ({
      ...{ ...payment, destination_type: 'INVOICE', destination_id: own['invoice'] },
      payment_method_type: 'OFFLINE',
    }),
    (own) => ({
      ...{ ...payment, destination_type: 'CUSTOMER', destination_id: own['customer'] },
      payment_method_type: 'OFFLINE',
    }),
    (own) => ({
      ...{ ...payment, destination_type: 'INVOICE', destination_id: own['invoice'] },
      ...{ payment_method_type: 'CREDITS', payment_method_id: own['wallet'] },
    }),
    (own) => ({
      ...{ ...payment, destination_type: 'INVOICE', destination_id: own['invoice'] },
      ...{ payment_method_type: 'CARD', payment_method_id: own['paymentMethod'] },
      ...{ payment_gateway: 'test', process_payment: false },
    }),
  ),
  ...of(
    'PUT /payments/{id}',
    (own) => `/payments/${own['openPayment']}`,
    (own) => ({ payment_method_id: own['paymentMethod'] }),
  ),
  ...of(
    'POST /checkout/sessions',
    null,
    (own) => ({
      ...{ ...checkout, customer_external_id: own['externalCustomer'], action: 'pay_invoice' },
      configuration: { pay_invoice_params: { invoice_id: own['invoice'] } },
    }),
    (own) => ({
      ...{ ...checkout, customer_external_id: own['externalCustomer'], action: 'add_addon' },
      configuration: {
        add_addon_params: {
          subscription_id: own['laterSubscription'],
          addons: [{ addon_id: own['addon'], proration_behavior: 'create_prorations' }],
        },
      },
    }),
    (own) => ({
      ...{ ...checkout, customer_external_id: own['externalCustomer'] },
      action: 'modify_subscription',
      configuration: {
        modify_subscription_params: {
          subscription_id: own['subscription'],
          line_item_modifications: [{ line_item_id: own['subscriptionLine'], quantity: '5' }],
        },
      },
    }),
  ),
  ...of('POST /creditnotes', null, (own) => ({
    ...{ invoice_id: own['invoice'], reason: 'BILLING_ERROR' },
    line_items: [{ invoice_line_item_id: own['invoiceLine'], amount: '0.01' }],
  })),
  ...of('POST /refunds', null, (own) => ({ payment_id: own['payment'], amount: '1' })),
  ...of(
    'POST /wallets',
    null,
    (own) => ({ customer_id: own['customer'], currency: 'eur' }),
    (own) => ({ external_customer_id: own['externalCustomer'], currency: 'gbp' }),
    (own) => ({
      ...{ customer_id: own['customer'], currency: 'usd' },
      price_unit: own['unitCode'],
    }),
  ),
  ...of(
    'POST /alerts/setting',
    null,
    (own) => ({ entity_type: 'subscription', entity_id: own['subscription'], config: ALERT }),
    (own) => ({
      ...{ entity_type: 'subscription_line_item', entity_id: own['subscriptionLine'] },
      ...{
        parent_entity_id: own['subscription'],
        parent_entity_type: 'subscription',
        config: ALERT,
      },
    }),
    (own) => ({
      ...{ entity_type: 'group', entity_id: own['group'] },
      ...{
        parent_entity_id: own['subscription'],
        parent_entity_type: 'subscription',
        config: ALERT,
      },
    }),
  ),
  ...of('POST /integrations/link', null, (own) => ({
    ...{ ...link(own), provider_entity_id: unique('cus') },
  })),
  ...of('POST /entity-integration-mappings', null, (own) => ({
    ...{ ...link(own), entity_type: 'invoice', entity_id: own['invoice'] },
    provider_entity_id: unique('in'),
  })),
  ...of('POST /integrations/sync', null, link),
  ...of('DELETE /integrations/link', null, link),
  ...of('POST /tasks/scheduled', null, (own) => ({
    ...{ connection_id: own['storage'], entity_type: 'events', interval: 'daily' },
    job_config: { bucket: 'b', region: 'eu-west-1' },
  })),
  ...of(
    'POST /webhooks/replay',
    null,
    (own) => ({
      ...{ endpoint_id: own['endpoint'], from: '2026-11-21T11:00:00Z' },
      to: '2026-11-21T13:00:00Z',
    }),
    (own) => ({ endpoint_id: own['endpoint'], system_event_id: own['notification'] }),
  ),
  ...of('POST /webhooks/retry', null, (own) => ({ system_event_id: own['notification'] })),
  ...of('POST /workflows/batch', null, (own) => ({
    workflows: [{ workflow_id: own['workflow'], run_id: own['workflow'] }],
  })),
  ...of('POST /tasks', null, (own) => ({ upload_id: own['upload'], file_provider: 'csvbox' })),
];
