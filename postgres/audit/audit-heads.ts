import type { Db } from '../client.ts';

/**
 * How far a tenant's chain reached once, and by which hash. Whoever can take the end off the log and off the
 * chain leaves a chain that holds; that it reached further is known only where its head was kept elsewhere.
 */
export interface AuditHead {
  readonly tenant_id: string;
  /** In the tenant's chain, from 1. */
  readonly number: string;
  /** In hex. */
  readonly hash: string;
}

/** Heads of the tenants of whom something was written at or after `since`. */
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

/** One word, as it stands in the log of the product and in the command of `audit verify`. */
export const headWord = ({ tenant_id, number, hash }: AuditHead): string =>
  `${tenant_id}:${number}:${hash}`;

/** Null for what is no such word. */
export function headOf(word: string): AuditHead | null {
  const [, tenant_id, number, hash] = /^([^:\s]+):(\d{1,18}):([0-9a-f]{64})$/.exec(word) ?? [];
  return tenant_id === undefined ? null : { tenant_id, number: number!, hash: hash! };
}

export interface LostHead {
  readonly head: string;
  readonly problem: 'the chain does not reach it any more' | 'the chain was made anew';
}

/** Of heads that were kept elsewhere those that the chains do not lead to. */
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
    const problem =
      hash === null ? 'the chain does not reach it any more' : 'the chain was made anew';
    return [{ head: headWord(head), problem }];
  });
}
