import type { Db } from '../client.ts';

/**
 * Length and last hash of a tenant's chain at one time. If an attacker cuts off the end of both the log and
 * the chain, the rest still verifies. Only a head stored elsewhere shows that the chain was longer.
 */
export interface AuditHead {
  readonly tenant_id: string;
  /** Position in the tenant's chain, from 1. */
  readonly number: string;
  /** Hexadecimal. */
  readonly hash: string;
}

/** Heads of the tenants with rows written at or after `since`. */
export function movedHeads(db: Db, since: string): Promise<AuditHead[]> {
  return db<AuditHead[]>`
    select head.tenant_id, head.number, encode(head.hash, 'hex') as hash
      from tenants t,
   lateral (select tenant_id, number, sequence, hash from audit_chain
             where tenant_id = t.id order by number desc limit 1) head
      join audit_log l on l.sequence = head.sequence
     where l.created_at >= ${since}
     order by head.tenant_id`;
}

/** One word, as written to the product's log and given to `audit verify`. */
export const headWord = ({ tenant_id, number, hash }: AuditHead): string =>
  `${tenant_id}:${number}:${hash}`;

/** Null if the word is not a head. */
export function headOf(word: string): AuditHead | null {
  const [, tenant_id, number, hash] = /^([^:\s]+):(\d{1,18}):([0-9a-f]{64})$/.exec(word) ?? [];
  return tenant_id === undefined ? null : { tenant_id, number: number!, hash: hash! };
}

export interface LostHead {
  readonly head: string;
  readonly problem: 'the chain ends before it' | 'the chain was rewritten';
}

/** The kept heads that the chains do not contain. */
export async function lostHeads(db: Db, kept: readonly AuditHead[]): Promise<LostHead[]> {
  const found = await db<{ hash: string | null }[]>`
    select encode(c.hash, 'hex') as hash
      from unnest(${kept.map((head) => head.tenant_id)}::text[],
                  ${kept.map((head) => head.number)}::bigint[])
           with ordinality as given (tenant_id, number, place)
      left join audit_chain c on c.tenant_id = given.tenant_id and c.number = given.number
     order by given.place`;
  return kept.flatMap((head, index) => {
    const { hash } = found[index]!;
    if (hash === head.hash) return [];
    const problem = hash === null ? 'the chain ends before it' : 'the chain was rewritten';
    return [{ head: headWord(head), problem }];
  });
}
