import { inScope, type Db } from '../../../postgres/client.ts';
import type { Caller } from '../../conventions/record.ts';

export interface PlanOfChange {
  readonly id: string;
  readonly name: string;
  readonly lookup_key: string | null;
  readonly description: string | null;
  readonly status: string;
}

/** The plan as answers of a plan change name it, archived or not; undefined if it is unknown. */
export async function planOf(
  db: Db,
  { scope }: Caller,
  id: string,
): Promise<PlanOfChange | undefined> {
  const [plan] = await db<PlanOfChange[]>`
    select id, name, lookup_key, description, status from plans
     where ${inScope(db, scope)} and id = ${id}`;
  return plan;
}
