import { createHash } from 'node:crypto';
import type { CHAIN_PROBLEMS } from '../../schemas/audit-log.ts';
import type { Db, Fragment, Transaction } from '../client.ts';

/** The first row of a tenant is hashed with this as its predecessor. */
const GENESIS = Buffer.alloc(32);

/** Rows per read when the chain is verified. */
const PAGE_ROWS = 2_000;
/**
 * Rows chained per transaction: about 10 ms of one core (50 µs a row, half of it in Postgres), so that a
 * request does not wait long for it. 500 rows took 25 ms, in which two busy cores fell visibly behind.
 */
const CHAINED_ROWS = 200;

/** The hashed form of a row: every column as text, in this order, times in UTC with microseconds. */
const hashedColumns = (db: Db): Fragment => db`
  (jsonb_build_array(
    l.sequence::text, l.id, l.tenant_id, l.environment_id, l.entity_type, l.entity_id, l.action,
    l.before, l.after, l.actor_kind, l.user_id, l.key_id, l.job, l.request_id, l.ip,
    to_char(l.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
    -- Rows from before there was the column are hashed as they were.
    || case when l.user_agent is null then '[]' else jsonb_build_array(l.user_agent) end
    || case when l.clock_time is null then '[]' else jsonb_build_array(jsonb_build_object('clock_time',
         to_char(l.clock_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))) end)::text as hashed`;

/** sha256(hash of the row before, this row): a changed row requires changing every later hash. */
export function chainHash(previous: Buffer, hashed: string): Buffer {
  return createHash('sha256').update(previous).update(hashed, 'utf8').digest();
}

export interface ChainedPage {
  readonly rows: number;
  /** Start of the next page of the same run; null if this page was the last, which is not full. */
  readonly next: string | null;
}

/**
 * Chains one page of rows that are not chained yet, of all tenants. Rows of a transaction that committed late
 * come later in their chain, and none is skipped. A run begins (`after` null) at the mark below which all
 * rows are chained, and the mark moves only when every transaction that could still write below it has ended.
 * Further pages of a run begin where the one before ended, and read nothing twice: starting each at the mark
 * took 200 ms a page after 50,000 rows. One caller at a time (a job's lease); the keys of the chain refuse a
 * second one.
 */
export async function chainAuditLog(
  tx: Transaction,
  after: string | null = null,
): Promise<ChainedPage> {
  const from = after ?? (await settledSequence(tx));
  const rows = await tx<UnchainedRow[]>`
    select l.sequence, l.tenant_id, ${hashedColumns(tx)}
      from audit_log l
     where l.sequence > ${from}::bigint
       and not exists (select from audit_chain c
                        where c.sequence = l.sequence and c.sequence > ${from}::bigint)
     order by l.sequence
     limit ${CHAINED_ROWS}`;
  if (rows.length > 0) await appendLinks(tx, rows);
  const isLast = rows.length < CHAINED_ROWS;
  if (isLast) await noteSettled(tx);
  return { rows: rows.length, next: isLast ? null : rows.at(-1)!.sequence };
}

interface UnchainedRow {
  readonly sequence: string;
  readonly tenant_id: string;
  readonly hashed: string;
}

/** In the given order, each after the last link of its tenant. */
async function appendLinks(tx: Transaction, rows: readonly UnchainedRow[]): Promise<void> {
  const heads = await chainHeads(tx, [...new Set(rows.map((row) => row.tenant_id))]);
  const links = rows.map((row) => {
    const before = heads.get(row.tenant_id) ?? { number: 0n, hash: GENESIS };
    const head = { number: before.number + 1n, hash: chainHash(before.hash, row.hashed) };
    heads.set(row.tenant_id, head);
    return { ...row, ...head };
  });
  await tx`
    insert into audit_chain (tenant_id, number, sequence, hash)
    select tenant_id, number, sequence, decode(hash, 'hex')
      from unnest(${links.map((link) => link.tenant_id)}::text[],
                  ${links.map((link) => String(link.number))}::bigint[],
                  ${links.map((link) => link.sequence)}::bigint[],
                  ${links.map((link) => link.hash.toString('hex'))}::text[])
           as given (tenant_id, number, sequence, hash)`;
}

interface Head {
  readonly number: bigint;
  readonly hash: Buffer;
}

async function chainHeads(db: Db, tenantIds: string[]): Promise<Map<string, Head>> {
  const rows = await db<{ tenant_id: string; number: string; hash: Buffer }[]>`
    select head.*
      from unnest(${tenantIds}::text[]) as tenant (id),
   lateral (select tenant_id, number, hash from audit_chain
             where tenant_id = tenant.id order by number desc limit 1) head`;
  return new Map(
    rows.map(({ tenant_id, number, hash }) => [tenant_id, { number: BigInt(number), hash }]),
  );
}

/** The mark, moved to the noted sequence once no transaction of that time runs any more. */
async function settledSequence(tx: Transaction): Promise<string> {
  const [row] = await tx<{ settled_sequence: string }[]>`
    update audit_chain_progress
       set settled_sequence = case
             when noted_xid <= pg_snapshot_xmin(pg_current_snapshot())
              and not exists (
                    select from audit_log l
                     where l.sequence > settled_sequence and l.sequence <= noted_sequence
                       -- The bound again: without it the join reads the chain from its beginning.
                       and not exists (select from audit_chain c
                                        where c.sequence = l.sequence and c.sequence > settled_sequence))
             then noted_sequence else settled_sequence end,
           -- A database that was restored elsewhere counts its transactions from the start.
           noted_xid = case when noted_xid <= pg_snapshot_xmax(pg_current_snapshot()) then noted_xid end
    returning settled_sequence`;
  return row!.settled_sequence;
}

/**
 * Notes the next mark: everything chained now is settled once all transactions that have begun until now have
 * ended. The mark never decreases: links that an attacker removed must not be created again.
 */
async function noteSettled(tx: Transaction): Promise<void> {
  await tx`
    update audit_chain_progress
       set noted_sequence = greatest(settled_sequence, (select max(sequence) from audit_chain)),
           noted_xid = pg_snapshot_xmax(pg_current_snapshot())
     where noted_xid is null or settled_sequence = noted_sequence`;
}

/** The first broken place of a tenant's chain. */
export interface BrokenLink {
  readonly tenant_id: string;
  /** Position in the tenant's chain, from 1; null for a row without a link. */
  readonly number: string | null;
  /** Sequence of the row in audit_log. */
  readonly sequence: string;
  /** Null if the row is missing. */
  readonly id: string | null;
  readonly entity: string | null;
  readonly problem: (typeof CHAIN_PROBLEMS)[number];
}

export interface AuditVerification {
  readonly tenants: number;
  readonly rows: number;
  readonly broken: readonly BrokenLink[];
  /**
   * Over the last hash of every tenant: compared with a copy stored elsewhere, it also reveals a chain that
   * was rebuilt as a whole.
   */
  readonly digest: string;
}

/** Computes every chain again. Reports the first broken place of each tenant; later links prove nothing. */
export async function verifyAuditLog(db: Db): Promise<AuditVerification> {
  const tenants = await db<{ tenant_id: string }[]>`
    select distinct tenant_id from audit_chain order by tenant_id`;
  const broken: BrokenLink[] = [];
  const digest = createHash('sha256');
  let rows = 0;
  for (const { tenant_id } of tenants) {
    const chain = await verifyChain(db, tenant_id);
    rows += chain.rows;
    digest.update(`${tenant_id} ${chain.rows} `).update(chain.head);
    if (chain.broken !== null) broken.push(chain.broken);
  }
  broken.push(...(await unchained(db)));
  return { tenants: tenants.length, rows, broken, digest: digest.digest('hex') };
}

interface Link {
  readonly number: string;
  readonly sequence: string;
  readonly hash: Buffer;
  readonly id: string | null;
  readonly entity_type: string | null;
  readonly entity_id: string | null;
  readonly hashed: string;
}

async function verifyChain(
  db: Db,
  tenantId: string,
): Promise<{ rows: number; head: Buffer; broken: BrokenLink | null }> {
  let part: VerifiedPage = { rows: 0, head: GENESIS, broken: null, isLast: false };
  while (!part.isLast) part = await verifyPage(db, tenantId, part);
  return part;
}

interface VerifiedPage {
  /** Number of valid links from the start of the chain. */
  readonly rows: number;
  /** Hash of the last of them. */
  readonly head: Buffer;
  readonly broken: BrokenLink | null;
  /** The end of the chain, or a broken link. */
  readonly isLast: boolean;
}

/** The page of links after these. */
async function verifyPage(
  db: Db,
  tenantId: string,
  before: Pick<VerifiedPage, 'rows' | 'head'>,
): Promise<VerifiedPage> {
  let { rows, head } = before;
  const page = await db<Link[]>`
    select c.number, c.sequence, c.hash, l.id, l.entity_type, l.entity_id, ${hashedColumns(db)}
      from audit_chain c
      left join audit_log l on l.sequence = c.sequence and l.tenant_id = c.tenant_id
     where c.tenant_id = ${tenantId} and c.number > ${rows}
     order by c.number
     limit ${PAGE_ROWS}`;
  for (const link of page) {
    const problem = problemOf(link, rows + 1, head);
    if (problem !== null)
      return { rows, head, broken: brokenLink(tenantId, link, problem), isLast: true };
    head = link.hash;
    rows += 1;
  }
  return { rows, head, broken: null, isLast: page.length < PAGE_ROWS };
}

/** Links of one tenant that one call verifies: about half a second of one core. */
const PART_PAGES = 5;

export interface VerifiedPart {
  readonly verified_to: number;
  /** Hexadecimal. */
  readonly head: string;
  readonly verified_until: string | null;
  readonly length: number;
  readonly broken: BrokenLink | null;
}

/**
 * Computes a part of one tenant's chain again: the links after the one with the number `after`, which counts as
 * valid. The last part also looks for rows without a link. Null if there is no such link.
 */
export async function verifyPart(
  db: Db,
  tenantId: string,
  after: number,
): Promise<VerifiedPart | null> {
  const start = after === 0 ? GENESIS : await hashOf(db, tenantId, after);
  if (start === null) return null;
  let part: VerifiedPage = { rows: after, head: start, broken: null, isLast: false };
  for (let pages = 0; pages < PART_PAGES && !part.isLast; pages += 1)
    part = await verifyPage(db, tenantId, part);
  const loose = part.isLast && part.broken === null ? await unchained(db, tenantId) : [];
  const [row] = await db<{ length: string | null; until: string | null }[]>`
    select (select max(number) from audit_chain where tenant_id = ${tenantId}) as length,
           (select l.created_at from audit_chain c join audit_log l on l.sequence = c.sequence
             where c.tenant_id = ${tenantId} and c.number = ${part.rows}) as until`;
  return {
    verified_to: part.rows,
    head: part.head.toString('hex'),
    verified_until: row!.until,
    length: Number(row!.length ?? 0),
    broken: part.broken ?? loose[0] ?? null,
  };
}

async function hashOf(db: Db, tenantId: string, number: number): Promise<Buffer | null> {
  const [link] = await db<{ hash: Buffer }[]>`
    select hash from audit_chain where tenant_id = ${tenantId} and number = ${number}`;
  return link?.hash ?? null;
}

function problemOf(link: Link, number: number, head: Buffer): BrokenLink['problem'] | null {
  if (Number(link.number) !== number) return 'the link is missing';
  if (link.id === null) return 'the row is missing';
  return chainHash(head, link.hashed).equals(link.hash) ? null : 'the row was changed';
}

const brokenLink = (
  tenant_id: string,
  { number, sequence, id, entity_type, entity_id }: Link,
  problem: BrokenLink['problem'],
): BrokenLink => ({
  tenant_id,
  number,
  sequence,
  id,
  entity: id === null ? null : `${entity_type} ${entity_id}`,
  problem,
});

/** Rows below the mark without a link: inserted by hand, or their links were removed. */
async function unchained(db: Db, tenantId: string | null = null): Promise<BrokenLink[]> {
  const rows = await db<
    { tenant_id: string; sequence: string; id: string; entity_type: string; entity_id: string }[]
  >`
    select distinct on (l.tenant_id) l.tenant_id, l.sequence, l.id, l.entity_type, l.entity_id
      from audit_log l
     where l.sequence <= (select settled_sequence from audit_chain_progress)
       and not exists (select from audit_chain c where c.sequence = l.sequence)
       ${tenantId === null ? db`` : db`and l.tenant_id = ${tenantId}`}
     order by l.tenant_id, l.sequence`;
  return rows.map(({ tenant_id, sequence, id, entity_type, entity_id }) => ({
    tenant_id,
    number: null,
    sequence,
    id,
    entity: `${entity_type} ${entity_id}`,
    problem: 'the row is in no chain',
  }));
}
