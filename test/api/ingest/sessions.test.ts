import { startIngest, type TestIngest, type TestPerson } from './start-ingest.ts';

const EVENT = { event_name: 'api.call', external_customer_id: 'acme' };
const MINUTES = 60_000;

describe('events of a person who is logged in', () => {
  let ingest: TestIngest;
  beforeAll(async () => {
    ingest = await startIngest();
  });
  afterAll(() => ingest.close());

  const as = (person: Pick<TestPerson, 'token'>, environment?: string) => ({
    'x-api-key': '',
    authorization: `Bearer ${person.token}`,
    ...(environment === undefined ? {} : { 'x-environment-id': environment }),
  });
  const bodies: [string, (id: string) => unknown][] = [
    ['/v1/events', (event_id) => ({ ...EVENT, event_id })],
    ['/v1/events/bulk', (event_id) => ({ events: [{ ...EVENT, event_id }] })],
    ['/v1/events/raw/bulk', (event_id) => ({ events: [{ ...EVENT, event_id }] })],
  ];

  test.each(bodies)('202: %s, in the environment that the header names', async (path, body) => {
    const person = await ingest.newPerson(['all_writer']);
    const answer = await ingest.post(path, body(path), as(person, person.environment_id));
    expect(answer.status).toBe(202);
    const stored = (await ingest.stored()).find(({ event_id }) => event_id === path);
    expect(stored).toMatchObject({
      tenant_id: person.tenant_id,
      environment_id: person.environment_id,
    });
  });

  test.each(bodies)('403: %s without event:write, before the body is read', async (path) => {
    const person = await ingest.newPerson(['all_reader']);
    for (const body of ['{', '{}'])
      expect((await ingest.post(path, body, as(person, person.environment_id))).body).toMatchObject(
        { code: 'permission_denied' },
      );
  });

  test('403: without an environment, with an unknown one, with another tenant’s', async () => {
    const [person, other] = [await ingest.newPerson(), await ingest.newPerson()];
    for (const environment of [undefined, '', 'env_x', other.environment_id]) {
      const { status, body } = await ingest.post('/v1/events', EVENT, as(person, environment));
      expect([status, body.code]).toEqual([403, 'permission_denied']);
    }
  });

  test('401: a token that was changed, has ended, or whose session was left', async () => {
    const person = await ingest.newPerson();
    const send = (by: Pick<TestPerson, 'token'>) =>
      ingest.post('/v1/events', EVENT, as(by, person.environment_id));
    const [head, claims] = person.token.split('.');
    for (const token of ['a.b.c', `${head}.${claims}.AAAA`]) {
      const { status, body } = await send({ token });
      expect([status, body.code]).toEqual([401, 'unauthenticated']);
    }
    expect((await send(person)).status).toBe(202);

    const identity = await ingest.sessions.authenticate(person.token, null, false);
    await ingest.pool`update sessions set ended_at = now() where id = ${identity!.session_id!}`;
    expect((await send(person)).status).toBe(401);

    const late = await ingest.newPerson();
    ingest.clock.advance(15 * MINUTES);
    expect((await ingest.post('/v1/events', EVENT, as(late, late.environment_id))).status).toBe(
      401,
    );
  });

  test('a key decides if both are sent, also in Authorization', async () => {
    const person = await ingest.newPerson();
    const both = as(person, person.environment_id);
    expect((await ingest.post('/v1/events', EVENT, { ...both, 'x-api-key': 'bad' })).status).toBe(
      401,
    );
    const bearer = { 'x-api-key': '', authorization: `Bearer ${ingest.key}` };
    expect((await ingest.post('/v1/events', EVENT, bearer)).status).toBe(202);
  });
});
