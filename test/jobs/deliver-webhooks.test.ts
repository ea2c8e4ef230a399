import { Webhook } from 'standardwebhooks';
import { deliverWebhooks } from '../../jobs/deliver-webhooks.ts';
import { createOutbound, type Outbound } from '../../platform/outbound/guarded-request.ts';
import { writeOutbox } from '../../postgres/tables/outbox.ts';
import { startTestApi, type TestApi, type TestCaller } from '../support/api.ts';
import { runAtNow } from '../support/job-run.ts';
import { startReceiver, type TestReceiver } from '../support/receiver.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let api: TestApi;
let outbound: Outbound;
let receiver: TestReceiver;
let caller: TestCaller;
beforeAll(async () => {
  api = await startTestApi();
  outbound = createOutbound();
});
beforeEach(async () => {
  receiver = await startReceiver();
  // Verifiers compare the time of an attempt with the real time.
  api.clock.set(new Date().toISOString());
  caller = await api.newCaller();
});
afterEach(async () => {
  await receiver.close();
  await api.pool`update webhook_endpoints set enabled = false`;
});
afterAll(async () => {
  outbound.close();
  await api.pool`delete from outbox where payload #> '{customer,tenant_id}' is null`; // made-up rows
  await api.close();
});

/** One run of the job at the test's time. */
const deliver = (more: Partial<{ outbound: Outbound }> = {}) =>
  runAtNow(api, deliverWebhooks, { ...api.deps, outbound, ...more });

async function endpoint(body: object = {}, by: TestCaller = caller, at = receiver) {
  const made = await by.post('/v1/webhooks/endpoints', { url: `${at.url}/hook`, ...body });
  expect(made.status).toBe(201);
  return made.body as { id: string; secret: string };
}

let customers = 0;
async function customer(by: TestCaller = caller) {
  const external_id = `hook_${(customers += 1)}`;
  const made = await by.post('/v1/customers', { external_id, name: 'Name' });
  expect(made.status).toBe(201);
  return made.body as { id: string };
}

const rename = (id: string, name: string) => caller.put(`/v1/customers/${id}`, { name });
const bodies = (from = receiver) => from.received.map(({ body }) => JSON.parse(body));
const idsOf = (from = receiver) => from.received.map(({ headers }) => headers['webhook-id']);

describe('notifications', () => {
  test('reach the endpoint signed, with the payload and what identifies them', async () => {
    const { secret } = await endpoint();
    const { id } = await customer();
    expect(await deliver()).toMatchObject({ dispatched: 1, delivered: 1, failed: 0 });
    const [received] = receiver.received;
    const verified = new Webhook(secret).verify(received!.body, {
      ...(received!.headers as Record<string, string>),
      'webhook-timestamp': received!.headers['webhook-timestamp'] as string,
    });
    expect(verified).toMatchObject({
      event_type: 'customer.created',
      customer: { id },
      environment_id: caller.scope.environment_id,
      id: received!.headers['webhook-id'],
      sequence: expect.any(Number),
    });
    expect(received!.headers['svix-signature']).toBe(received!.headers['webhook-signature']);
  });

  test('reach only endpoints that want them, of the same environment', async () => {
    const other = await api.newCaller({ inTenantOf: caller });
    await endpoint({ event_types: ['customer.updated'] });
    await endpoint({ event_types: ['customer.created'], enabled: false });
    await endpoint({}, other);
    const { id } = await customer();
    await rename(id, 'New name');
    await deliver();
    expect(bodies().map(({ event_type }) => event_type)).toEqual(['customer.updated']);
  });

  test('are retried under the same id until a success', async () => {
    const { id } = await endpoint();
    receiver.answer = (_received, response) => void response.writeHead(500).end('broken');
    await customer();
    expect(await deliver()).toMatchObject({ failed: 1 });
    expect(await deliver()).toMatchObject({ failed: 0 });
    api.clock.advance(6_000);
    receiver.answer = (_received, response) => void response.writeHead(200).end('fine');
    expect(await deliver()).toMatchObject({ delivered: 1 });
    expect(new Set(idsOf()).size).toBe(1);
    const { body } = await caller.get(`/v1/webhooks/endpoints/${id}/attempts`);
    expect(body.items.map((attempt: { attempt: number }) => attempt.attempt).sort()).toEqual([
      1, 2,
    ]);
    expect(body.items).toContainEqual(
      expect.objectContaining({
        attempt: 1,
        status_code: 500,
        error: 'the receiver answered 500',
        response_body: 'broken',
        request_headers: expect.objectContaining({ 'webhook-id': idsOf()[0] }),
      }),
    );
  });

  test('of one object keep their order while the first fails; others are delivered', async () => {
    await endpoint();
    const [first, second] = [await customer(), await customer()];
    await rename(first.id, 'Second event');
    receiver.answer = ({ body }, response) =>
      void response.writeHead(body.includes(first.id) ? 503 : 204).end();
    await deliver();
    expect(bodies().filter(({ customer: { id } }) => id === first.id)).toHaveLength(1);
    expect(bodies().some(({ customer: { id } }) => id === second.id)).toBe(true);
    receiver.answer = (_received, response) => void response.writeHead(204).end();
    api.clock.advance(6_000);
    await deliver();
    expect(
      bodies()
        .filter(({ customer: { id } }) => id === first.id)
        .map(({ event_type }) => event_type),
    ).toEqual(['customer.created', 'customer.created', 'customer.updated']);
  });

  test('are exhausted after twelve attempts, and the next event of the object follows', async () => {
    await endpoint();
    const { id } = await customer();
    await rename(id, 'Later');
    receiver.answer = ({ body }, response) =>
      void response.writeHead(body.includes('customer.created') ? 500 : 204).end();
    let exhausted = 0;
    const seconds = [6, 70, 340, 2_000, 8_000, 19_900, 39_700, 55_500, 79_300, 95_100, 95_100, 0];
    for (const wait of seconds) {
      exhausted += (await deliver())!['exhausted']!;
      api.clock.advance(wait * 1000);
    }
    expect(exhausted).toBe(1);
    expect(bodies().filter(({ event_type }) => event_type === 'customer.created')).toHaveLength(12);
    await deliver();
    expect(bodies().at(-1).event_type).toBe('customer.updated');
  });

  test('lost with the process are sent again under the same id', async () => {
    await endpoint();
    await customer();
    let resume = (): void => {};
    const resumed = new Promise<void>((resolve) => (resume = resolve));
    const slow = deliver({
      outbound: {
        ...outbound,
        async post(sent) {
          const answer = await outbound.post(sent);
          await resumed;
          return answer;
        },
      },
    });
    while (receiver.received.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await api.pool`update job_leases set leased_until = now() - interval '1 minute' where name = 'deliver-webhooks'`;
    expect(await deliver()).toMatchObject({ delivered: 1 });
    resume();
    expect(await slow).toBeNull();
    expect(receiver.received).toHaveLength(2);
    expect(new Set(idsOf()).size).toBe(1);
  });

  test('for a receiver that does not answer do not delay those of others', async () => {
    const dead = await startReceiver();
    dead.answer = () => {};
    const other = await api.newCaller();
    await endpoint({}, caller, dead);
    await endpoint({}, other);
    for (let index = 0; index < 5; index++) {
      await customer(caller);
      await customer(other);
    }
    const run = deliver();
    while (receiver.received.length < 5) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(dead.received.length).toBeGreaterThan(0);
    await dead.close();
    expect(await run).toMatchObject({ delivered: 5, failed: 5 });
  });

  test('for many receivers that do not answer do not delay those of another tenant', async () => {
    const dead = await startReceiver();
    dead.answer = () => {};
    for (let index = 0; index < 20; index++) await endpoint({}, caller, dead);
    const other = await api.newCaller();
    await endpoint({}, other);
    await api.pool.begin(async (tx) => {
      // The other tenant's notifications are the youngest.
      for (const { scope } of [...Array.from({ length: 60 }, () => caller), other, other])
        await writeOutbox(tx, scope, 'customer.updated', {
          customer: { id: api.deps.ids.next('cust') },
        });
    });
    const run = deliver();
    while (receiver.received.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(dead.received.length).toBeLessThanOrEqual(64);
    await api.pool`update webhook_endpoints set enabled = false`;
    await dead.close();
    expect(await run).toMatchObject({ delivered: 2 });
  });

  test('of thousands of changes arrive once each, in the order of each object', async () => {
    await endpoint();
    const { scope } = caller;
    for (let round = 0; round < 20; round++)
      await api.pool.begin(async (tx) => {
        for (let index = 0; index < 50; index++)
          await writeOutbox(tx, scope, 'customer.updated', {
            customer: { id: `cust_${index}`, round },
          });
      });
    expect(await deliver()).toMatchObject({ delivered: 1000, failed: 0 });
    const rounds = new Map<string, number[]>();
    for (const { customer: sent } of bodies())
      rounds.set(sent.id, [...(rounds.get(sent.id) ?? []), sent.round]);
    for (const seen of rounds.values())
      expect(seen).toEqual(Array.from({ length: 20 }, (_, round) => round));
  });
});

describe('a receiver', () => {
  test('that answers 410 is disabled; enabling it delivers the pending ones', async () => {
    const { id } = await endpoint();
    receiver.answer = (_received, response) => void response.writeHead(410).end();
    await customer();
    expect(await deliver()).toMatchObject({ disabled: 1 });
    const { body } = await caller.get(`/v1/webhooks/endpoints/${id}`);
    expect(body).toMatchObject({
      enabled: false,
      disabled_reason: 'The receiver answered 410 Gone.',
    });
    const told = await api.pool<{ recipient: string; kind: string; payload: any }[]>`
      select recipient, kind, payload from emails_outbox where payload ->> 'endpoint_id' = ${id}`;
    expect(told).toEqual([
      {
        recipient: expect.stringContaining('@'),
        kind: 'endpoint_disabled',
        payload: { tenant_id: caller.scope.tenant_id, endpoint_id: id },
      },
    ]);
    receiver.answer = (_received, response) => void response.writeHead(204).end();
    const enabled = await caller.put(`/v1/webhooks/endpoints/${id}`, { enabled: true });
    expect(enabled.body).toMatchObject({ enabled: true, disabled_reason: null });
    api.clock.advance(10_000);
    expect(await deliver()).toMatchObject({ delivered: 1 });
  });

  test('that fails for five days is disabled', async () => {
    const { id } = await endpoint();
    receiver.answer = (_received, response) => void response.writeHead(500).end();
    await customer();
    await deliver();
    api.clock.advance(4 * DAY);
    expect(await deliver()).toMatchObject({ failed: 1, disabled: 0 });
    api.clock.advance(DAY);
    expect(await deliver()).toMatchObject({ disabled: 1 });
    expect((await caller.get(`/v1/webhooks/endpoints/${id}`)).body.enabled).toBe(false);
  });

  test('that redirects has failed; redirects are not followed', async () => {
    const { id } = await endpoint();
    receiver.answer = (_received, response) =>
      void response.writeHead(302, { location: `${receiver.url}/elsewhere` }).end();
    await customer();
    expect(await deliver()).toMatchObject({ failed: 1 });
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook']);
    const { body } = await caller.get(`/v1/webhooks/endpoints/${id}/attempts`);
    expect(body.items[0].status_code).toBe(302);
  });

  test('that is busy sets the time of the next attempt, at most an hour later', async () => {
    await endpoint();
    receiver.answer = (_received, response) =>
      void response.writeHead(429, { 'retry-after': '600' }).end();
    await customer();
    await deliver();
    api.clock.advance(599_000);
    await deliver();
    expect(receiver.received).toHaveLength(1);
    api.clock.advance(2_000);
    await deliver();
    expect(receiver.received).toHaveLength(2);
  });

  test('that answers without end is read up to a limit', async () => {
    const { id } = await endpoint();
    receiver.answer = (_received, response) => {
      response.writeHead(200);
      const fill = (): void => {
        while (response.writable && response.write('x'.repeat(10_000)));
        response.once('drain', fill);
      };
      fill();
    };
    await customer();
    expect(await deliver()).toMatchObject({ delivered: 1 });
    const { body } = await caller.get(`/v1/webhooks/endpoints/${id}/attempts`);
    expect(body.items[0].response_body).toHaveLength(4096);
  });
});

describe('an endpoint', () => {
  test('shows its secret once, and can be changed, listed and deleted', async () => {
    const { id, secret } = await endpoint({ description: 'Ledger' });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const read = await caller.get(`/v1/webhooks/endpoints/${id}`);
    expect(read.body).not.toHaveProperty('secret');
    const url = `${receiver.url}/other`;
    const changed = await caller.put(`/v1/webhooks/endpoints/${id}`, {
      url,
      event_types: ['invoice.update'],
    });
    expect(changed.body).toMatchObject({ url, event_types: ['invoice.update'] });
    expect((await caller.get('/v1/webhooks/endpoints')).body.items).toHaveLength(1);
    expect((await caller.delete(`/v1/webhooks/endpoints/${id}`)).status).toBe(200);
    expect((await caller.get(`/v1/webhooks/endpoints/${id}`)).status).toBe(404);
    expect((await caller.get('/v1/webhooks/endpoints')).body.items).toHaveLength(0);
    await customer();
    await deliver();
    expect(receiver.received).toHaveLength(0);
  });

  test('signs with both secrets for a day after a rotation', async () => {
    const { id, secret } = await endpoint();
    const rotated = await caller.post(`/v1/webhooks/endpoints/${id}/rotate`);
    expect(rotated.body.secret).not.toBe(secret);
    expect((await caller.post(`/v1/webhooks/endpoints/${id}/rotate`)).status).toBe(400);
    await customer();
    await deliver();
    const signatures = () =>
      String(receiver.received.at(-1)!.headers['webhook-signature']).split(' ');
    expect(signatures()).toHaveLength(2);
    for (const key of [secret, rotated.body.secret])
      new Webhook(key).verify(
        receiver.received[0]!.body,
        receiver.received[0]!.headers as Record<string, string>,
      );
    api.clock.advance(DAY);
    await customer();
    await deliver();
    expect(signatures()).toHaveLength(1);
  });

  test.each([
    ['http://10.0.0.1/', 'url'],
    ['ftp://example.com/', 'url'],
    ['https://example.com:22/', 'url'],
  ])('refuses %s', async (url, path) => {
    const { status, body } = await caller.post('/v1/webhooks/endpoints', { url });
    expect([status, body.details[0].path]).toEqual([400, path]);
  });

  test('refuses an unknown event type', async () => {
    const { status, body } = await caller.post('/v1/webhooks/endpoints', {
      url: receiver.url,
      event_types: ['customer.exploded'],
    });
    expect([status, body.details[0].path]).toEqual([400, 'event_types[0]']);
  });

  test('is sent a test, which is shown with the answer', async () => {
    const { id, secret } = await endpoint();
    await customer();
    receiver.answer = (_received, response) => void response.writeHead(418).end('teapot');
    const { status, body } = await caller.post(`/v1/webhooks/endpoints/${id}/test`, {
      event_type: 'customer.created',
    });
    expect([status, body.status_code, body.response_body]).toEqual([200, 418, 'teapot']);
    const [received] = receiver.received;
    expect(
      new Webhook(secret).verify(received!.body, received!.headers as Record<string, string>),
    ).toMatchObject({ test: true, event_type: 'customer.created', customer: { name: 'Name' } });
  });

  test('gets one notification or those of a range again', async () => {
    const { id } = await endpoint();
    const from = new Date(Date.now() - HOUR).toISOString();
    const to = new Date(Date.now() + HOUR).toISOString();
    const { id: first } = await customer();
    await rename(first, 'Second');
    await deliver();
    const [system_event_id] = idsOf();
    expect((await caller.post('/v1/webhooks/retry', { system_event_id })).status).toBe(202);
    await deliver();
    expect(idsOf().filter((sent) => sent === system_event_id)).toHaveLength(2);
    const replay = await caller.post('/v1/webhooks/replay', { endpoint_id: id, from, to });
    expect([replay.status, replay.body.count]).toEqual([202, 2]);
    await deliver();
    expect(
      bodies()
        .slice(3)
        .map(({ event_type }) => event_type),
    ).toEqual(['customer.created', 'customer.updated']);
  });

  test('gets one notification again, and no other endpoint gets it', async () => {
    const { id: endpoint_id } = await endpoint();
    await endpoint();
    await customer();
    await deliver();
    expect(idsOf()).toHaveLength(2);
    const [system_event_id] = idsOf();
    const again = await caller.post('/v1/webhooks/replay', { endpoint_id, system_event_id });
    expect([again.status, again.body.count]).toEqual([202, 1]);
    await deliver();
    expect(idsOf()).toEqual([system_event_id, system_event_id, system_event_id]);

    const test_ = await caller.post(`/v1/webhooks/endpoints/${endpoint_id}/test`, {});
    for (const wrong of [
      { system_event_id: test_.body.system_event_id },
      { system_event_id, from: '2026-01-01T00:00:00Z', to: '2027-01-01T00:00:00Z' },
      { from: '2026-01-01T00:00:00Z' },
      {},
    ])
      expect((await caller.post('/v1/webhooks/replay', { endpoint_id, ...wrong })).status).toBe(
        400,
      );
  });

  test('of another tenant is not found', async () => {
    const { id } = await endpoint();
    const other = await api.newCaller();
    const range = { from: '2026-01-01T00:00:00Z', to: '2027-01-01T00:00:00Z' };
    for (const answer of [
      await other.get(`/v1/webhooks/endpoints/${id}`),
      await other.put(`/v1/webhooks/endpoints/${id}`, { enabled: false }),
      await other.delete(`/v1/webhooks/endpoints/${id}`),
      await other.post(`/v1/webhooks/endpoints/${id}/rotate`),
      await other.post(`/v1/webhooks/endpoints/${id}/test`),
      await other.get(`/v1/webhooks/endpoints/${id}/attempts`),
      await other.post('/v1/webhooks/replay', { endpoint_id: id, ...range }),
    ])
      expect(answer.status).toBe(404);
  });
});
