import { readFileSync } from 'node:fs';
import { unknownFields } from '../../platform/http/parse.ts';
import type { Pool } from '../../postgres/client.ts';
import { payloadOf } from '../../schemas/webhooks/payloads.ts';

/**
 * `sent_by`: the test file that makes the product send each type, over HTTP or through the job that sends it; the file
 * fails if it ends without (`shared-environment.js`). `never_sent`: names of the specification that the product does
 * not send, with the reason; no test may produce one.
 */
export const NOTIFIED_BY = JSON.parse(
  readFileSync(new URL('./notified-by.json', import.meta.url), 'utf8'),
) as Record<'sent_by' | 'never_sent', Readonly<Record<string, string>>>;

/** Rows of each type that are read: a test may write thousands that are alike. */
const PER_TYPE = 50;

/**
 * Reads the notifications of a test's database before it is dropped. Throws if one has another form than its type
 * declares (money 17.3.1): a key too many, one too few, a value of another kind. Notes the types.
 */
export async function checkNotifications(pool: Pool): Promise<void> {
  const rows = await pool<Notification[]>`
    select event_type, payload, occurred_at, environment_id, sequence::float8 as sequence, id
      from (select *, row_number() over (partition by event_type order by sequence desc) as place
              from outbox where payload is not null) o
     where place <= ${PER_TYPE}`;
  const { notifiedTypes } = globalThis as { notifiedTypes?: Set<string> };
  for (const { event_type } of rows) notifiedTypes?.add(event_type);
  const wrong = new Set(rows.flatMap(faultsOf));
  if (wrong.size > 0)
    throw new Error(`notifications have another form than declared:\n${[...wrong].join('\n')}`);
}

interface Notification {
  readonly event_type: string;
  readonly payload: object;
  readonly occurred_at: string;
  readonly environment_id: string;
  readonly sequence: number;
  readonly id: string;
}

function faultsOf({ event_type, payload, occurred_at, ...row }: Notification): string[] {
  if (event_type in NOTIFIED_BY.never_sent) return [`${event_type}: is documented as never sent`];
  const form = payloadOf(event_type);
  if (form === undefined) return [`${event_type}: is not documented`];
  const body = { event_type, ...payload, ...row, created_at: occurred_at };
  const result = form.safeParse(body);
  const issues = result.success
    ? []
    : result.error.issues.map(({ path, message }) => `${event_type} ${path.join('.')}: ${message}`);
  const unknown = unknownFields(form, body).map((path) => `${event_type} ${path}: is not declared`);
  return [...issues, ...unknown];
}
