import { decimal } from '../../domain/money.ts';
import type { UsageEvent } from '../../schemas/events/usage-event.ts';
import { eventually } from '../support/metering-world.ts';
import { startPipeline, type PipelineWorld } from '../support/pipeline-world.ts';

/** Events that are taken back over HTTP, behind the real edge, log, stream and sealer (metering 6). */
describe('corrections', () => {
  let world: PipelineWorld;
  beforeAll(async () => {
    world = await startPipeline();
    world.api.clock.set('2026-06-20T00:00:00.000Z');
  });
  afterAll(() => world.close());

  const JUNE = { start_time: '2026-06-01T00:00:00Z', end_time: '2026-07-01T00:00:00Z' };
  let names = 0;
  const aMeter = async (aggregation: object = { type: 'SUM', field: 'v' }) => {
    const event_name = `corrected_${(names += 1)}`;
    const meter = await world.catalog.meter(aggregation, { event_name });
    return { event_name, meter };
  };
  const event = (event_name: string, event_id: string, v = 1, given: object = {}) => ({
    event_name,
    event_id,
    external_customer_id: 'acme',
    timestamp: '2026-06-15T10:00:00.000Z',
    properties: { v },
    ...given,
  });
  const takeBack = (event_id: string, more: object = {}) =>
    world.api.post('/v1/events/corrections', { event_id, reason: 'sent by mistake', ...more });
  const usageOf = async (meter: { id: string }) => {
    const { status, body } = await world.api.post('/v1/events/usage/meter', {
      meter_id: meter.id,
      external_customer_id: 'acme',
      ...JUNE,
    });
    return [status, body.value];
  };
  const usageBecomes = (meter: { id: string }, value: number) =>
    eventually(async () => expect(await usageOf(meter)).toEqual([200, value]));
  const voids = async (): Promise<number> => {
    const { decodeEvents } = await import('../../schemas/events/usage-event.ts');
    const rows = await world.api.pool<{ value: Buffer }[]>`select value from log_records`;
    return rows
      .flatMap(({ value }): UsageEvent[] => decodeEvents(value))
      .filter(({ kind }) => kind === 'void').length;
  };

  test('202: the usage is removed, the copies stay, the debugger shows the void and its user', async () => {
    const { event_name, meter } = await aMeter();
    await world.send([event(event_name, 'w1', 5), event(event_name, 'w2', 7)]);
    await world.settled();
    await usageBecomes(meter, 12);

    const { status, body } = await takeBack('w1');
    expect(status).toBe(202);
    expect(body).toMatchObject({
      event_id: 'w1',
      type: 'void',
      reason: 'sent by mistake',
      created_by: world.api.user_id,
    });
    expect(body.request_id).not.toBe('');
    await usageBecomes(meter, 7);
    const { body: history } = await world.api.get('/v1/events/w1');
    expect(history.status).toBe('failed');
    expect(history.events.map(({ verdict }: any) => verdict)).toEqual(['voided']);
    const { body: found } = await world.api.get(`/v1/events/corrections/${body.id}`);
    expect(found.logged_at).not.toBeNull();
    const { body: list } = await world.api.post('/v1/events/corrections/search', {
      event_ids: ['w1'],
    });
    expect(list.items).toEqual([found]);
  });

  test('202 again: answers the first correction, and logs nothing new', async () => {
    const { event_name, meter } = await aMeter();
    await world.send([event(event_name, 'twice', 5), event(event_name, 'other', 1)]);
    await world.settled();
    const first = await takeBack('twice');
    await usageBecomes(meter, 1);
    const logged = await voids();
    const second = await takeBack('twice', { reason: 'another reason' });
    expect([second.status, second.body.id, second.body.reason]).toEqual([
      202,
      first.body.id,
      'sent by mistake',
    ]);
    expect(await voids()).toBe(logged);
    await usageBecomes(meter, 1);
  });

  test('one of a thousand copies: all of them are inert, and later ones too', async () => {
    const { event_name, meter } = await aMeter();
    const copies = Array.from({ length: 1_000 }, (_, n) => event(event_name, 'thousand', n + 1));
    await world.send([event(event_name, 'beside', 3), ...copies.slice(0, 700)]);
    await world.settled();
    await usageBecomes(meter, 4);
    expect((await takeBack('thousand')).status).toBe(202);
    await world.send(copies.slice(700));
    await world.settled();
    await usageBecomes(meter, 3);
    const { body } = await world.api.get('/v1/events/thousand');
    expect(body.events).toHaveLength(50);
    expect(new Set(body.events.map(({ verdict }: any) => verdict))).toEqual(new Set(['duplicate']));
  });

  test('404 for an id that was never stored, another tenant’s too; it counts when it comes later', async () => {
    const { event_name, meter } = await aMeter();
    const refused = await takeBack('not yet there');
    expect(refused.status).toBe(404);
    expect(refused.body.message).toContain('An accepted event is stored within seconds');
    const stranger = await world.api.newCaller();
    await world.send([event(event_name, 'not yet there', 4)]);
    await world.settled();
    await usageBecomes(meter, 4);
    const answer = await stranger.post('/v1/events/corrections', {
      event_id: 'not yet there',
      reason: 'x',
    });
    expect(answer.status).toBe(404);
    await usageBecomes(meter, 4);
  });

  test('400 without an id or a reason', async () => {
    for (const body of [{}, { event_id: 'a' }, { event_id: '', reason: 'x' }, { reason: 'x' }])
      expect((await world.api.post('/v1/events/corrections', body)).status).toBe(400);
    expect((await takeBack('a', { type: 'replace' })).status).toBe(400);
  });

  test('403 for a key that only sends events', async () => {
    const sender = await world.api.newCaller({
      beside: world.api,
      roles: ['event_ingestor'],
      userType: 'service_account',
    });
    const answer = await sender.post('/v1/events/corrections', { event_id: 'w1', reason: 'x' });
    expect(answer.status).toBe(403);
  });

  test('a correction whose process died before the log is appended by the job', async () => {
    const { event_name, meter } = await aMeter();
    await world.send([event(event_name, 'orphan', 5), event(event_name, 'stays', 2)]);
    await world.settled();
    await world.api.pool`
      insert into corrections ${world.api.pool({
        id: world.api.deps.ids.next('correction'),
        ...world.api.scope,
        event_id: 'orphan',
        reason: 'x',
        request_id: 'r',
      })}`;
    expect(await world.job('log-corrections')).toEqual({ logged: 1 });
    expect(await world.job('log-corrections')).toEqual({ logged: 0 });
    await usageBecomes(meter, 2);
  });

  test('a meter made later does not count it either', async () => {
    const { event_name } = await aMeter();
    await world.send([event(event_name, 'l1', 5), event(event_name, 'l2', 6)]);
    await world.settled();
    await takeBack('l1');
    await world.settled();
    const later = await world.catalog.meter({ type: 'SUM', field: 'v' }, { event_name });
    await world.settled();
    await usageBecomes(later, 6);
  });

  test('a finalized invoice stays unchanged and reports the difference; a draft is computed again', async () => {
    const { catalog, api } = world;
    api.clock.set('2026-03-20T00:00:00.000Z');
    const plan = await catalog.plan();
    const { event_name, meter } = await aMeter();
    await catalog.usage(plan, meter, { amount: '2' });
    const customer = await catalog.customer();
    const subscription = await catalog.subscribe(customer, plan, {
      start_date: '2026-03-01T00:00:00.000Z',
    });
    const march = {
      external_customer_id: customer.external_id,
      timestamp: '2026-03-15T10:00:00.000Z',
    };
    await world.send([
      event(event_name, 'm1', 10, march),
      event(event_name, 'm2', 20, march),
      event(event_name, 'm3', 40, march),
    ]);
    await world.settled();
    const invoice = async () =>
      (
        await api.post('/v1/invoices/search', {
          subscription_id: subscription.id,
          billing_reason: 'SUBSCRIPTION_CYCLE',
        })
      ).body.items[0];

    api.clock.set('2026-04-01T00:10:00.000Z');
    expect(await world.job('close-billing-periods')).toMatchObject({ advanced: 1 });
    expect((await invoice()).total).toBe('140');
    await takeBack('m1');
    await world.settled();
    api.clock.set('2026-04-01T01:00:00.000Z');
    expect(await world.job('finalize-draft-invoices')).toMatchObject({ finalized: 1 });
    const final = await invoice();
    expect([final.invoice_status, final.total]).toEqual(['FINALIZED', '120']);

    await takeBack('m2');
    await world.settled();
    const { body: check } = await api.get(`/v1/invoices/${final.id}/usage-check`);
    expect(check.lines).toMatchObject([
      { billed_usage: '60', usage_now: '40', difference: decimal('-20').toString() },
    ]);
    expect((await api.get(`/v1/invoices/${final.id}`)).body.total).toBe('120');
  });
});
