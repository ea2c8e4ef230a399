import { WEBHOOK_EVENT_TYPES } from '../../../schemas/webhooks/event-types.ts';
import { WebhookPayload } from '../../../schemas/webhooks/payloads.ts';
import { bodyOf } from '../../../platform/outbound/send-notification.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';

/** The pages that document notifications (interface, Events; money 17.3). */
describe('POST /webhook-events/{event_type}', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  const described = async (type: string) => {
    const answer = await api.app.inject({ method: 'POST', url: `/v1/webhook-events/${type}` });
    return { status: answer.statusCode, body: answer.json() };
  };

  test('200 with the body of every type, without a credential and without effect', async () => {
    for (const type of WEBHOOK_EVENT_TYPES) {
      const answer = await described(type);
      expect([type, answer.status]).toEqual([type, 200]);
      expect(answer.body).toMatchObject({ event_type: type });
      expect(WebhookPayload.safeParse(answer.body).success).toBe(true);
    }
    const [sent] = await api.pool<{ count: number }[]>`select count(*)::int as count from outbox`;
    expect(sent).toEqual({ count: 0 });
  });

  test('the two bodies that the specification prints have its keys', async () => {
    const failed = await described('invoice.sync.failed');
    expect(failed.body).toMatchObject({
      error: expect.any(String),
      invoice: { id: expect.any(String), line_items: [expect.any(Object)] },
      provider_details: {
        hosted_invoice_url: expect.any(String),
        invoice_id: expect.any(String),
        provider: expect.any(String),
      },
    });
    const { body } = await described('credit_note.updated');
    const printed =
      'id credit_note_number credit_note_status credit_note_type currency customer_id invoice_id subscription_id memo metadata reason total_amount finalized_at voided_at';
    expect(Object.keys(body.credit_note)).toEqual(expect.arrayContaining(printed.split(' ')));
  });

  test('404 for a type that does not exist', async () => {
    const answer = await described('invoice.melted');
    expect([answer.status, answer.body.code]).toEqual([404, 'not_found']);
  });

  test('a whole record is the answer about it', async () => {
    const caller = await api.newCaller();
    const { body: customer } = await caller.post('/v1/customers', { external_id: 'a', name: 'A' });
    const { body: feature } = await caller.post('/v1/features', { name: 'F', type: 'boolean' });
    const told = async (type: string, id: string) => {
      const [row] = await api.pool<{ payload: object }[]>`
        select payload from outbox where event_type = ${type} and entity_id = ${id}`;
      const notification = {
        event_id: 'outbox_1', event_type: type, occurred_at: '2026-03-01T00:00:00.000Z', clock_time: null,
        environment_id: caller.scope.environment_id, sequence: '1', payload: row!.payload as Record<string, unknown>,
      }; // prettier-ignore
      return JSON.parse(bodyOf(notification));
    };
    const { body: now } = await caller.get(`/v1/customers/${customer.id}`);
    expect((await told('customer.created', customer.id)).customer).toEqual(now);
    const { meter: _, group: __, ...answered } = feature;
    expect((await told('feature.created', feature.id)).feature).toEqual(answered);
    expect(answered).toMatchObject({ description: '', unit_singular: '' });
  });

  test('a notification of a real change has the documented form', async () => {
    const caller = await api.newCaller();
    await caller.post('/v1/customers', { external_id: 'acme', name: 'Acme' });
    const [row] = await api.pool<{ payload: object }[]>`
      select payload from outbox where event_type = 'customer.created'`;
    const envelope = {
      event_type: 'customer.created',
      id: 'outbox_1',
      created_at: '2026-03-01T00:00:00.000Z',
      environment_id: caller.scope.environment_id,
      sequence: 1,
    };
    const read = WebhookPayload.safeParse({ ...envelope, ...row!.payload });
    expect(read.success).toBe(true);
  });
});
