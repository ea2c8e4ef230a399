import { COPIED } from '../../../api/catalog/clone-environment/clone-environment.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

/** The tables and columns of the database decide what a clone of an environment has to copy. */
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Tables of an environment that are no catalog. A new table belongs here or in `COPIED`. */
const NOT_COPIED = {
  customers:
    'customers customer_onboardings test_clocks test_clock_times portal_sessions payment_methods tax_associations wallets wallet_transactions erasures',
  subscriptions:
    'subscriptions subscription_line_items subscription_phases subscription_pauses subscription_schedules subscription_changes addon_associations coupon_associations credit_grant_applications',
  invoices:
    'invoices invoice_line_items invoice_collections invoice_number_sequences late_usage_settlements credit_notes credit_note_lines payments payment_attempts refunds checkout_sessions',
  'credentials and other systems':
    'api_keys connections integration_mappings gateway_events test_gateway_payments test_gateway_refunds webhook_endpoints webhook_deliveries webhook_attempts scheduled_tasks scheduled_task_runs',
  settings: 'settings saved_views alert_settings',
  'records of work':
    'alert_logs audit_log corrections entitlement_history environment_seeds idempotency_keys outbox record_counts request_logs tasks task_results uploads',
};
/** Copied through the repository of meters, which creates the versions. */
const METERS = ['meters', 'meter_versions'];

test('every table of an environment is copied, or named as one that is not', async () => {
  const rows = await database.pool<{ table_name: string }[]>`
    select distinct table_name from information_schema.columns
     where table_schema = 'public' and column_name = 'environment_id'`;
  const decided = [
    ...COPIED.map(({ table }) => table),
    ...METERS,
    ...Object.values(NOT_COPIED).flatMap((names) => names.split(' ')),
  ];
  expect(rows.map(({ table_name }) => table_name).sort()).toEqual(decided.sort());
});

describe.each(COPIED)('$table', ({ table, references }) => {
  const columns = async () => {
    const rows = await database.pool<{ column_name: string; data_type: string }[]>`
      select column_name, data_type from information_schema.columns
       where table_schema = 'public' and table_name = ${table}`;
    return rows;
  };

  test('every column with the id of another record is a reference', async () => {
    // The copy has the scope of its new environment, and a copied price begins a series of versions.
    const own = ['tenant_id', 'environment_id', 'parent_price_id'];
    const ids = (await columns())
      .map(({ column_name }) => column_name)
      .filter((name) => /_ids?$/.test(name) && !own.includes(name));
    expect(ids.sort()).toEqual([...references].sort());
  });

  test('no column is an array: the copy writes every object as jsonb', async () => {
    expect((await columns()).filter(({ data_type }) => data_type === 'ARRAY')).toEqual([]);
  });
});
