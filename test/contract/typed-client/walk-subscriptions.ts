import type { Walker } from './client.ts';

/** What other walks refer to. */
export interface WalkedSubscriptions {
  readonly subscriptionId: string;
}

/** A plan with a fee and an addon; subscriptions in every state that the client can bring about. */
export async function walkSubscriptions(
  { walk }: Walker,
  customerId: string,
): Promise<WalkedSubscriptions> {
  const { planId, higherPlanId, addonId } = await makeCatalog(walk);
  const subscribe = (rest: object) =>
    walk('POST /subscriptions', (sdk) =>
      sdk.subscriptions.createSubscription({
        customerId, planId, currency: 'usd', billingCadence: 'RECURRING', billingPeriod: 'MONTHLY',
        billingPeriodCount: 1, billingCycle: 'anniversary', ...rest,
      } as never),
    ); // prettier-ignore
  const made = await subscribe({
    collectionMethod: 'send_invoice', paymentTerms: '30 NET', metadata: { a: 'b' },
    commitmentAmount: '50', overageFactor: '1.5', enableTrueUp: true,
    creditGrants: [
      {
        name: 'Welcome', scope: 'SUBSCRIPTION', credits: '5', cadence: 'ONETIME', priority: 1,
        expirationType: 'NEVER',
      },
    ],
  }); // prettier-ignore
  const id = made.id!;
  await walk('GET /subscriptions/{id}', (sdk) => sdk.subscriptions.getSubscription(id));
  await walk('GET /subscriptions/{id}/v2', (sdk) =>
    sdk.subscriptions.getSubscriptionV2(id, 'plan,customer,subscription_line_items,prices'),
  );
  await walk('PUT /subscriptions/{id}', (sdk) =>
    sdk.subscriptions.updateSubscription(id, { metadata: { c: 'd' } } as never),
  );
  await walk('POST /subscriptions/search', (sdk) =>
    sdk.subscriptions.querySubscription({
      limit: 10, withLineItems: true, expand: 'plan,customer,prices',
    } as never),
  ); // prettier-ignore
  await walk('POST /subscriptions/usage', (sdk) =>
    sdk.subscriptions.getSubscriptionUsage({ subscriptionId: id }),
  );
  await walk('GET /subscriptions/{id}/entitlements', (sdk) =>
    sdk.subscriptions.getSubscriptionEntitlements(id),
  );
  await walk('GET /subscriptions/{id}/grants/upcoming', (sdk) =>
    sdk.subscriptions.getSubscriptionUpcomingGrants(id),
  );

  const line = await walk('POST /subscriptions/{id}/lineitems', (sdk) =>
    sdk.subscriptions.createSubscriptionLineItem(id, {
      displayName: 'Seats', quantity: 2,
      price: {
        type: 'FIXED', billingModel: 'FLAT_FEE', amount: '3', currency: 'usd', priceUnitType: 'FIAT',
        billingCadence: 'RECURRING', billingPeriod: 'MONTHLY', billingPeriodCount: 1,
        invoiceCadence: 'ARREAR',
      },
    } as never),
  ); // prettier-ignore
  const changed = await walk('PUT /subscriptions/lineitems/{id}', (sdk) =>
    sdk.subscriptions.updateSubscriptionLineItem(line.id!, { amount: '4' } as never),
  );
  await walk('DELETE /subscriptions/lineitems/{id}', (sdk) =>
    sdk.subscriptions.deleteSubscriptionLineItem(changed.id!, {} as never),
  );

  const attached = await walk('POST /subscriptions/addon', (sdk) =>
    sdk.subscriptions.addSubscriptionAddon({ subscriptionId: id, addonId } as never),
  );
  await walk('GET /subscriptions/{id}/addons/associations', (sdk) =>
    sdk.subscriptions.getSubscriptionAddonAssociations(id),
  );
  await walk('DELETE /subscriptions/addon', (sdk) =>
    sdk.subscriptions.removeSubscriptionAddon({ addonAssociationId: attached.id! } as never),
  );

  await walk('POST /subscriptions/{id}/pause', (sdk) =>
    sdk.subscriptions.pauseSubscription(id, { pauseMode: 'immediate', reason: 'Holiday' } as never),
  );
  await walk('GET /subscriptions/{id}/pauses', (sdk) =>
    sdk.subscriptions.listSubscriptionPauses(id),
  );
  await walk('POST /subscriptions/{id}/resume', (sdk) =>
    sdk.subscriptions.resumeSubscription(id, { resumeMode: 'immediate' } as never),
  );

  const change = {
    targetPlanId: higherPlanId, prorationBehavior: 'create_prorations', billingCadence: 'RECURRING',
    billingPeriod: 'MONTHLY', billingPeriodCount: 1, billingCycle: 'anniversary',
  } as never; // prettier-ignore
  const other = await subscribe({});
  await walk('POST /subscriptions/{id}/change/preview', (sdk) =>
    sdk.subscriptions.previewSubscriptionChange(other.id!, change),
  );
  await walk('POST /subscriptions/{id}/change/execute', (sdk) =>
    sdk.subscriptions.executeSubscriptionChange(other.id!, change),
  );

  const draft = await subscribe({ subscriptionStatus: 'draft' });
  await walk('POST /subscriptions/{id}/activate', (sdk) =>
    sdk.subscriptions.activateSubscription(draft.id!, {
      startDate: made.startDate,
    } as never),
  );
  await walk('POST /subscriptions/{id}/cancel', (sdk) =>
    sdk.subscriptions.cancelSubscription(draft.id!, {
      cancellationType: 'immediate', prorationBehavior: 'create_prorations', reason: 'Test',
    } as never),
  ); // prettier-ignore

  const ending = await subscribe({});
  await walk('POST /subscriptions/{id}/cancel', (sdk) =>
    sdk.subscriptions.cancelSubscription(ending.id!, {
      cancellationType: 'end_of_period',
    } as never),
  );
  await walkSchedules(walk, ending.id!);
  return { subscriptionId: id };
}

const ADVANCE_FEE = {
  type: 'FIXED', billingModel: 'FLAT_FEE', currency: 'usd', priceUnitType: 'FIAT', amount: '30',
  billingCadence: 'RECURRING', billingPeriod: 'MONTHLY', billingPeriodCount: 1,
  invoiceCadence: 'ADVANCE', displayName: 'Fee',
} as const; // prettier-ignore

async function makeCatalog(walk: Walker['walk']) {
  const planOf = async (name: string, amount: string): Promise<string> => {
    const { id } = await walk('POST /plans', (sdk) =>
      sdk.plans.createPlan({ name, lookupKey: `walk-${name}` }),
    );
    await walk('POST /prices', (sdk) =>
      sdk.prices.createPrice({ ...ADVANCE_FEE, amount, entityType: 'PLAN', entityId: id! }),
    );
    return id!;
  };
  const addon = await walk('POST /addons', (sdk) =>
    sdk.addons.createAddon({
      name: 'Support',
      lookupKey: 'walk-support',
      type: 'multiple_instance' as never,
    }),
  );
  await walk('POST /prices', (sdk) =>
    sdk.prices.createPrice({ ...ADVANCE_FEE, entityType: 'ADDON', entityId: addon.id! }),
  );
  return {
    planId: await planOf('basic', '30'),
    higherPlanId: await planOf('higher', '90'),
    addonId: addon.id!,
  };
}

/** The scheduled cancellation of a subscription: listed, read, withdrawn. */
async function walkSchedules(walk: Walker['walk'], subscriptionId: string): Promise<void> {
  const listed = await walk('GET /v1/subscriptions/{subscription_id}/schedules', (sdk) =>
    sdk.subscriptions.listSubscriptionSchedules(subscriptionId),
  );
  await walk('GET /v1/subscription-schedules', (sdk) =>
    sdk.subscriptions.listAllSubscriptionSchedules(true, subscriptionId),
  );
  const id = listed.schedules![0]!.id!;
  await walk('GET /v1/subscription-schedules/{id}', (sdk) =>
    sdk.subscriptions.getSubscriptionSchedule(id),
  );
  await walk('POST /v1/subscriptions/schedules/{schedule_id}/cancel', (sdk) =>
    sdk.subscriptions.cancelSubscriptionSchedule(id),
  );
}
