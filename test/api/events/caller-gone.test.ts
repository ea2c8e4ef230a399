import { once } from 'node:events';
import { request, type ClientRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BillingError } from '../../../domain/errors.ts';
import { eventually } from '../../support/metering-world.ts';
import { startPipeline, type PipelineWorld } from '../../support/pipeline-world.ts';

const QUERIES_OF_TENANT = 2;
const WAITING_MAX = 20;

/** Readers of usage stop for a caller that has closed the connection. */
describe('a caller that has gone', () => {
  let world: PipelineWorld;
  let port: number;
  beforeAll(async () => {
    world = await startPipeline();
    await world.api.app.listen({ host: '127.0.0.1', port: 0 });
    ({ port } = world.api.app.server.address() as AddressInfo);
  });
  afterAll(() => world.close());

  const send = (method: string, path: string, body?: object): ClientRequest => {
    const sent = request({
      host: '127.0.0.1',
      port,
      method,
      path: `/v1${path}`,
      agent: false,
      headers: { 'x-api-key': world.api.key, 'content-type': 'application/json' },
    });
    sent.on('error', () => {});
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    return sent;
  };
  const statusOf = async (sent: ClientRequest): Promise<number> => {
    const [answer] = await once(sent, 'response');
    answer.resume();
    return answer.statusCode;
  };
  /** Takes all turns of the tenant until the returned function is called. */
  const takeTurns = (): (() => Promise<unknown>) => {
    const ends: (() => void)[] = [];
    const turns = Array.from({ length: QUERIES_OF_TENANT }, () =>
      world.eventReader.inTurn(tenantId(), () => new Promise<void>((end) => ends.push(end))),
    );
    return () => {
      for (const end of ends) end();
      return Promise.all(turns);
    };
  };
  const tenantId = (): string => world.api.scope.tenant_id;
  /** Whether one more query of the tenant would be refused. */
  const isFull = async (): Promise<boolean> => {
    const leaving = new AbortController();
    const tried = world.eventReader.until(leaving.signal).inTurn(tenantId(), async () => {});
    leaving.abort();
    return await tried.then(
      () => false,
      (error: unknown) => (error as BillingError).code === 'too_many_usage_queries',
    );
  };
  const range = { start_time: '2026-06-01T00:00:00Z', end_time: '2026-06-02T00:00:00Z' };

  test.each<[method: string, path: string, body: object | undefined]>([
    ['GET', '/events', undefined],
    ['POST', '/events/query', range],
    ['POST', '/events/usage', { ...range, event_name: 'call', aggregation_type: 'COUNT' }],
  ])('%s %s: its waiting queries give up their places', async (method, path, body) => {
    const giveBack = takeTurns();
    const abandoned = Array.from({ length: WAITING_MAX }, () => send(method, path, body));
    await eventually(async () => expect(await isFull()).toBe(true));
    for (const sent of abandoned) sent.destroy();
    await eventually(async () => expect(await isFull()).toBe(false));
    const next = statusOf(send(method, path, body));
    await giveBack();
    expect(await next).toBe(200);
  });
});
