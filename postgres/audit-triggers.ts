import type { Db, Fragment } from './client.ts';
import { tenantTables, type TenantTable } from './tenant-tables.ts';

/** Tenant tables whose changes are not in the audit log, and why. Every other tenant table is audited. */
export const NOT_AUDITED: Readonly<Record<string, string>> = {
  audit_log: 'is the log',
  audit_chain: 'is the log’s proof',
  idempotency_keys: 'answers kept for repeats; what they answered is audited',
  outbox: 'notifications of changes that are audited themselves',
  sessions: 'come and go with logins',
  portal_sessions: 'come and go with visits of end customers',
  one_time_tokens: 'come and go with forgotten passwords; the new password is audited',
  saml_requests: 'logins that have begun',
  saml_assertions: 'logins that are over',
  record_counts: 'counters that triggers keep',
  meter_versions: 'follow from the meter, which is audited; the stream moves them while it works',
  invoice_line_items:
    'written with their invoice and not changed without it; they would double the cost of a billing run',
  invoice_number_sequences: 'counters; the invoice contains the number',
  entitlement_history: 'earlier states of entitlements, which are audited themselves',
  alert_logs: 'a log of its own',
  uploads: 'files; their tasks are audited',
  test_clock_times: 'follow from the advances of the clock, which are audited',
  customer_onboardings: 'a queue; each record that an action made is audited',
  scheduled_task_runs: 'a log of its own; who changed the schedule is audited',
  webhook_deliveries: 'a queue; who made or changed the endpoint is audited',
  webhook_attempts: 'a log of its own',
  request_logs: 'a log of its own',
  environment_seeds: 'progress of generated data; the key and each record that it made are audited',
  invoice_collections: 'a schedule; each charge is a payment, which is audited',
  late_usage_settlements:
    'written once, with a one-off invoice or a credit note, which is audited itself',
  task_results: 'rows of files; each record that a row made is audited',
};

/**
 * Columns that processes change automatically, often and in many rows. A change of only these columns is not
 * audited and costs a comparison of the others: in a table of this list, the trigger of changes is one for each
 * row, under the condition that another column changed. A migration that drops or retypes a column of such a table
 * drops the trigger `audit_updated` of the table first.
 */
const NOT_NOTED: Readonly<Record<string, readonly string[]>> = {
  api_keys: ['last_used_at'],
  tasks: ['processed_records', 'successful_records', 'failed_records'],
  // Each change of a balance is a wallet transaction, and the debit says which blocks it took.
  wallets: [
    'credit_balance',
    'balance',
    'credits_in_blocks',
    'overdraft',
    'alert_state',
    'announced_ongoing_credits',
  ],
  wallet_transactions: ['credits_available', 'holds_credits'],
  webhook_endpoints: ['failing_since'],
  // Each instant that an advance comes to moves it; the requests to advance are audited.
  test_clocks: ['now', 'members', 'stream_heads'],
  // The billing run moves periods; the invoice that it creates at each boundary is audited.
  subscriptions: [
    'current_period_start',
    'current_period_end',
    'due_at',
    'last_billing_sequence',
    'renewal_notified_for',
  ],
};
const NEVER_NOTED = ['updated_at', 'updated_by', 'version', 'sequence'];

/**
 * Personal data that may have to be erased (tenancy S31). The log is permanent, so it records that the
 * value changed, not the value.
 */
const PERSONAL: Readonly<Record<string, readonly string[]>> = {
  customers: [
    'name', 'email', 'contact', 'contact_persons', 'address_line1', 'address_line2', 'address_city',
    'address_state', 'address_postal_code', 'metadata',
  ],
}; // prettier-ignore

const SECRET = /password|secret|token|hash|private_key|api_key|access_key|credential/;

/**
 * One trigger for each kind of change, for each statement: many rows cost little more than one. The exception is
 * changes in a table of `NOT_NOTED`.
 */
const TRIGGERS = ['audit_created', 'audit_updated', 'audit_deleted'] as const;
type Trigger = (typeof TRIGGERS)[number];

/**
 * Creates the triggers of each audited table, and drops them from tables that are no longer audited. Returns
 * the changed tables. Call it in a transaction; takes no lock if nothing changes.
 */
export async function auditTenantTables(db: Db): Promise<string[]> {
  const present = await db<{ table_name: string; name: string; arguments: string }[]>`
    select c.relname as table_name, t.tgname as name, encode(t.tgargs, 'escape') as arguments
      from pg_trigger t
      join pg_class c on c.oid = t.tgrelid
     where c.relnamespace = current_schema()::regnamespace and not t.tgisinternal
       and t.tgname = any(${TRIGGERS as unknown as string[]}::text[])`;
  const found = new Map(present.map((row) => [`${row.table_name} ${row.name}`, row.arguments]));
  const changed = new Set<string>();
  for (const table of await tenantTables(db)) {
    for (const trigger of TRIGGERS) {
      const given = isAudited(table) ? triggerArguments(table, trigger) : null;
      const wanted = given?.map((argument) => `${argument}\\000`).join('');
      const known = found.get(`${table.name} ${trigger}`);
      if (known === wanted) continue;
      changed.add(table.name);
      if (known !== undefined) await db`drop trigger ${db(trigger)} on ${db(table.name)}`;
      if (given !== null) await createTrigger(db, trigger, table, given);
    }
  }
  return [...changed];
}

/** A row of the log names a record by its id, so tables without an id are not audited. */
export const isAudited = (table: TenantTable): boolean =>
  !(table.name in NOT_AUDITED) && table.columns.some(({ name }) => name === 'id');

/** Entity type in the log of a table's rows: `tax_rates` → `tax_rate`. */
export function entityType(tableName: string): string {
  if (tableName.endsWith('ies')) return `${tableName.slice(0, -3)}y`;
  return /(ss|x|ch|sh)es$/.test(tableName) ? tableName.slice(0, -2) : tableName.replace(/s$/, '');
}

/** The compared columns are arguments too, so that a new column replaces the trigger. */
function triggerArguments(table: TenantTable, trigger: Trigger): string[] {
  const { name, columns } = table;
  const compared = trigger === 'audit_updated' && isForEachRow(table) ? comparedColumns(table) : [];
  const secrets = columns.filter((column) => column.type === 'bytea' || SECRET.test(column.name));
  const unnoted = columns.filter((column) => isUnnoted(table, column.name));
  const personal = columns.filter((column) => PERSONAL[name]?.includes(column.name));
  const nested = columns.filter((column) => column.type === 'jsonb');
  return [
    entityType(name),
    ...secrets.map((column) => `s:${column.name}`),
    ...personal.map((column) => `p:${column.name}`),
    ...nested.map((column) => `j:${column.name}`),
    ...unnoted.map((column) => `n:${column.name}`),
    ...compared.map((column) => `c:${column}`),
  ];
}

const isForEachRow = ({ name }: TenantTable): boolean => name in NOT_NOTED;
const isUnnoted = ({ name }: TenantTable, column: string): boolean =>
  NEVER_NOTED.includes(column) || (NOT_NOTED[name]?.includes(column) ?? false);
const comparedColumns = (table: TenantTable): string[] =>
  table.columns.map(({ name }) => name).filter((column) => !isUnnoted(table, column));

/**
 * Arguments are given as identifiers, which Postgres reads as texts here: this statement takes no parameters.
 */
async function createTrigger(
  db: Db,
  trigger: Trigger,
  table: TenantTable,
  given: readonly string[],
): Promise<void> {
  const on = db(table.name);
  const list = given.reduce(
    (before, argument, index) =>
      index === 0 ? db`${db(argument)}` : db`${before}, ${db(argument)}`,
    db``,
  );
  switch (trigger) {
    case 'audit_created':
      return void (await db`
        create trigger audit_created after insert on ${on}
        referencing new table as new_rows
        for each statement execute function audit_created(${list})`);
    case 'audit_updated': {
      if (isForEachRow(table)) {
        const compared = comparedColumns(table);
        return void (await db`
          create trigger audit_updated after update on ${on}
          for each row
          when (${rowOf(db, 'old', compared)} is distinct from ${rowOf(db, 'new', compared)})
          execute function audit_updated_row(${list})`);
      }
      return void (await db`
        create trigger audit_updated after update on ${on}
        referencing old table as old_rows new table as new_rows
        for each statement execute function audit_updated(${list})`);
    }
    case 'audit_deleted':
      return void (await db`
        create trigger audit_deleted after delete on ${on}
        referencing old table as old_rows
        for each statement execute function audit_deleted(${list})`);
  }
}

const rowOf = (db: Db, row: 'old' | 'new', columns: readonly string[]): Fragment => {
  const fields = columns.map((column) => db(`${row}.${column}`));
  return db`row(${fields.reduce<Fragment>((before, field, index) => (index === 0 ? db`${field}` : db`${before}, ${field}`), db``)})`;
};
