import { invalidField } from '../../../domain/errors.ts';
import { verifyPart } from '../../../postgres/audit/audit-chain.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import type { AuditChainPart } from '../../../schemas/audit-log.ts';

/** The part of the caller's chain after the link `after`, computed again (tenancy S25). */
export async function verifyChainPart(
  db: Db,
  { tenant_id }: Pick<Scope, 'tenant_id'>,
  after: number,
): Promise<AuditChainPart> {
  const part = await verifyPart(db, tenant_id, after);
  if (part === null)
    throw invalidField('after', 'is behind the end of the chain; begin again without it');
  const { verified_to, head, verified_until, length, broken } = part;
  return {
    verified_to,
    length,
    head,
    verified_until,
    broken: broken && {
      number: broken.number === null ? null : Number(broken.number),
      audit_log_id: broken.id,
      problem: broken.problem,
    },
  };
}
