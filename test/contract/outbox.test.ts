import { writeOutbox, writeOutboxEvents } from '../../postgres/tables/outbox.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const scope = { tenant_id: 'tenant_a', environment_id: 'env_a' };

describe('outbox', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(async () => {
    await database.pool`delete from outbox`; // made-up rows without the form of their types
    await database.drop();
  });

  const written = () => database.pool`select * from outbox order by sequence`;

  test('a notification exists exactly when its transaction is committed', async () => {
    await expect(
      database.pool.begin(async (tx) => {
        await writeOutbox(tx, scope, 'customer.created', { customer: { id: 'cust_1' } });
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    expect(await written()).toHaveLength(0);

    await database.pool.begin((tx) =>
      writeOutboxEvents(tx, [
        { scope, event_type: 'invoice.update', payload: { invoice: { id: 'inv_1', total: '10' } } },
        { scope, event_type: 'customer.updated', payload: { customer: { id: 'cust_1' } } },
      ]),
    );
    expect(await written()).toMatchObject([
      {
        ...scope,
        event_type: 'invoice.update',
        entity_type: 'invoice',
        entity_id: 'inv_1',
        payload: { invoice: { id: 'inv_1', total: '10' } },
        delivered_at: null,
      },
      { event_type: 'customer.updated', entity_type: 'customer', entity_id: 'cust_1' },
    ]);
  });

  test('a payload without an entity is a bug', async () => {
    await expect(
      database.pool.begin((tx) => writeOutbox(tx, scope, 'customer.created', { customer: {} })),
    ).rejects.toThrow('a payload begins with its entity');
  });
});
