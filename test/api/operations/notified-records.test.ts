import { z } from 'zod';
import { API_ROUTES } from '../../../api/routes.ts';
import { bodyOf, type Notification } from '../../../platform/outbound/send-notification.ts';
import { isEmptyWhenUnset } from '../../../schemas/primitives.ts';
import { WebhookPayload } from '../../../schemas/webhooks/payloads.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf } from '../../support/catalog.ts';
import { checkout, planFor } from '../../support/checkout-kinds.ts';
import { invoiceDue, payOffline } from '../../support/payments.ts';

/** Where the record of a section of notifications is read. */
const READ_AT: Readonly<Record<string, string>> = {
  subscription: '/subscriptions/{id}',
  feature: '/features/{id}',
  entitlement: '/entitlements/{id}',
  wallet: '/wallets/{id}',
  payment: '/payments/{id}',
  refund: '/refunds/{id}',
  customer: '/customers/{id}',
  invoice: '/invoices/{id}',
  credit_note: '/creditnotes/{id}',
  checkout_session: '/checkout/sessions/{id}',
};
/** Records that are read in a list only. */
const SEARCHED_AT: Readonly<Record<string, string>> = {
  transaction: '/wallets/transactions/search',
  updated_transaction: '/wallets/transactions/search',
};

type Shape = Readonly<Record<string, z.ZodType>>;

const shapeOf = (schema: unknown): Shape => {
  if (schema instanceof z.ZodObject) return schema.shape as Shape;
  if (schema instanceof z.ZodPipe) return shapeOf(schema.in);
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodReadonly)
    return shapeOf(schema.unwrap());
  return {};
};
const answerOf = (method: string, path: string) =>
  shapeOf(API_ROUTES.find((route) => route.method === method && route.path === path)!.answer);

/** Money 17.3: a notification says about a record what the answer about it says. */
describe('the record of a notification', () => {
  test.each([...Object.keys(READ_AT), ...Object.keys(SEARCHED_AT)])(
    '%s: an unset text is "" where it is in the answer',
    (section) => {
      const searched = SEARCHED_AT[section];
      const answer =
        searched === undefined
          ? answerOf('GET', READ_AT[section]!)
          : shapeOf((answerOf('POST', searched)['items'] as z.ZodArray).element);
      const forms = WebhookPayload.options.flatMap((option) => {
        const form = (option.shape as Shape)[section];
        return form === undefined ? [] : [shapeOf(form)];
      });
      const common = forms.flatMap((form) => Object.keys(form).filter((key) => key in answer));
      expect(common.length).toBeGreaterThan(3);
      const different = forms.flatMap((form) =>
        Object.entries(form)
          .filter(([key]) => key in answer)
          .filter(([key, field]) => isEmptyWhenUnset(field) !== isEmptyWhenUnset(answer[key]!))
          .map(([key]) => key),
      );
      expect(different).toEqual([]);
    },
  );

  describe('is the one that is read', () => {
    let api: TestApi;
    beforeAll(async () => {
      api = await startTestApi();
      await api.post('/v1/connections', {
        name: 'Test',
        provider_type: 'test',
        encrypted_secret_data: { webhook_secret: 'whsec_of_the_test_gateway' },
      });
      await makeRecords();
    });
    afterAll(() => api.close());

    /** Records of each kind, most of their texts unset. */
    async function makeRecords(): Promise<void> {
      const { invoice, customer } = await invoiceDue(api, '50');
      await payOffline(api, invoice, '50', {
        payment_method_type: 'CARD',
        payment_method_id: 'pm_test_success',
        payment_gateway: 'test',
      });
      await api.postOk('/v1/creditnotes', {
        invoice_id: invoice.id,
        reason: 'SERVICE_ISSUE',
        refund_target: 'BACK_TO_SOURCE',
        line_items: [{ invoice_line_item_id: invoice.line_items[0]!.id, amount: '10' }],
        process_credit_note: true,
      });
      const { plan, catalog, customer: buyer } = await planFor(api, '30');
      const feature = await api.postOk('/v1/features', { name: 'Seats', type: 'boolean' });
      await api.postOk('/v1/entitlements', {
        entity_type: 'PLAN',
        entity_id: plan.id,
        feature_id: feature.id,
        feature_type: 'boolean',
        is_enabled: true,
      });
      await catalog.subscribe(buyer, plan, { checkout });
      const wallet = await api.postOk('/v1/wallets', { customer_id: customer.id, currency: 'usd' });
      await api.postOk(`/v1/wallets/${wallet.id}/top-up`, {
        credits_to_add: '10',
        transaction_reason: 'FREE_CREDIT_GRANT',
      });
      await api.postOk(`/v1/wallets/${wallet.id}/debit`, {
        credits: '3',
        transaction_reason: 'MANUAL_BALANCE_DEBIT',
        idempotency_key: 'debit',
      });
    }

    /** The last notification of each record with that section. */
    async function notified(section: string): Promise<Record<string, any>[]> {
      const rows = await api.pool<Notification[]>`
        select distinct on (entity_id) id as event_id, event_type, occurred_at, clock_time, environment_id,
               sequence::text as sequence, payload
          from outbox where payload ? ${section} order by entity_id, outbox.sequence desc`;
      expect(rows.length).toBeGreaterThan(0);
      return rows.map((row) => JSON.parse(bodyOf(row))[section]);
    }

    /** Movements of money are told by `wallet.transaction.created`, not again for the wallet. */
    const LATER: Readonly<Record<string, readonly string[]>> = {
      wallet: ['balance', 'credit_balance'],
    };

    /** What both have, at any depth; a record that one embeds and the other leaves null is left out. */
    function common(of: any, other: any, without: readonly string[] = []): unknown {
      if (Array.isArray(of) && Array.isArray(other))
        return of.map((item, index) => common(item, other[index]));
      if (!isObject(of) || !isObject(other)) return of;
      return Object.fromEntries(
        Object.entries(of)
          .filter(([key]) => key in other && !without.includes(key))
          .filter(([key, value]) => isObject(value) === isObject(other[key]))
          .map(([key, value]) => [key, common(value, other[key])]),
      );
    }

    const isObject = (value: unknown): value is Record<string, unknown> =>
      typeof value === 'object' && value !== null;

    test.each(Object.entries(READ_AT))('%s', async (section, path) => {
      for (const sent of await notified(section)) {
        const { status, body } = await api.get(`/v1${path.replace('{id}', sent['id'])}`);
        expect([section, status]).toEqual([section, 200]);
        expect(common(sent, body, LATER[section])).toEqual(common(body, sent, LATER[section]));
      }
    });

    test.each(Object.entries(SEARCHED_AT).slice(0, 1))('%s', async (section, path) => {
      for (const sent of await notified(section)) {
        const { items } = await api.postOk(`/v1${path}`, { wallet_id: sent['wallet_id'] });
        const read = items.find(({ id }: { id: string }) => id === sent['id']);
        expect(common(sent, read)).toEqual(common(read, sent));
      }
    });
  });
});
