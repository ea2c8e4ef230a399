import { startTestApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

/** Names that some list expands, or that clients of the API send (client contract, ExpandableField). */
const WORDS = [
  'addons', 'coupon', 'coupon_applications', 'coupon_associations', 'created_by_user', 'credit_grant', 'credit_note',
  'credits_available_breakdown', 'customer', 'entitlements', 'feature', 'features', 'groups', 'integrations', 'invoice',
  'meters', 'plan', 'plans', 'price_sync_status', 'prices', 'priceunit', 'schedule', 'subscription',
  'subscription_line_items', 'tax_applied', 'tax_association', 'tax_rate', 'wallet',
]; // prettier-ignore

test.each([
  '/customers',
  '/invoices',
  '/plans',
  '/prices',
  '/features',
  '/entitlements',
  '/addons',
  '/subscriptions',
  '/wallets',
  '/payments',
  '/creditnotes',
  '/coupons',
  '/taxes/rates',
])(
  'GET %s ignores the name of another list in expand, and refuses one of no list (api 38)',
  async (path) => {
    const { status, body } = await api.get(`/v1${path}?expand=${WORDS.join(',')}`);
    expect([status, body.details?.map((detail: { message: string }) => detail.message)]).toEqual([
      200,
      undefined,
    ]);
    expect((await api.get(`/v1${path}?expand=nonsense`)).status).toBe(400);
  },
);
