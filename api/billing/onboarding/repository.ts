import { type Db, inScope, type Scope, type Transaction } from '../../../postgres/client.ts';
import { type ClockRef, ownedBy, type Timeline } from '../../../postgres/tables/test-clocks.ts';
import type { OnboardingAction } from '../../../schemas/settings/workflows.ts';

/** An onboarding with open actions, and the time of its customer. */
export interface DueOnboarding extends Scope {
  readonly id: string;
  /** The time of the customer's test clock; null in real time. */
  readonly clock_time: string | null;
}

/**
 * Open onboardings whose time has come, one of each tenant in turn, oldest first. In real time also those of customers
 * whose test clock stands; an advancing clock asks for its own.
 */
export async function dueOnboardings(
  db: Db,
  { at, test_clock_id }: Timeline,
  limit: number,
): Promise<DueOnboarding[]> {
  const isOfTimeline =
    test_clock_id == null
      ? db`(c.test_clock_id is null and o.due_at <= ${at}
            or k.status <> 'advancing' and o.due_at <= k.now)`
      : db`c.test_clock_id = ${test_clock_id} and o.due_at <= ${at}`;
  return await db<DueOnboarding[]>`
    select id, tenant_id, environment_id, clock_time
      from (select o.id, o.tenant_id, o.environment_id, o.due_at, k.now as clock_time,
                   row_number() over (partition by o.tenant_id order by o.due_at, o.id) as turn
              from customer_onboardings o
              join customers c on c.id = o.customer_id
              left join test_clocks k on k.id = c.test_clock_id
             where o.onboarding_status = 'PENDING' and ${isOfTimeline}) due
     order by turn, due_at, id limit ${limit}`;
}

/** When onboardings of the clock's customers are due. */
export const onboardingDueTimes = (db: Db, clock: ClockRef) => db`
  select o.due_at as at
    from customer_onboardings o join customers c on c.id = o.customer_id
   where o.onboarding_status = 'PENDING' and ${ownedBy(db, clock, 'o')}`;

export interface OnboardingRow {
  readonly customer_id: string;
  readonly actions: readonly OnboardingAction[];
  readonly next_action: number;
  readonly onboarding_status: 'PENDING' | 'COMPLETED' | 'FAILED';
  readonly error_summary: string | null;
  readonly attempts: number;
}

/** The onboarding, locked until the transaction ends. */
export async function lockOnboarding(
  tx: Transaction,
  scope: Scope,
  id: string,
): Promise<OnboardingRow> {
  const [row] = await tx<OnboardingRow[]>`
    select customer_id, actions, next_action, onboarding_status, error_summary, attempts
      from customer_onboardings where ${inScope(tx, scope)} and id = ${id} for update`;
  return row!;
}

/** Writes the given columns of an onboarding. */
export async function noteOnboarding(
  tx: Transaction,
  scope: Scope,
  id: string,
  change: Partial<Omit<OnboardingRow, 'customer_id' | 'actions'>> & {
    readonly due_at?: string;
    readonly completed_at?: string;
  },
): Promise<void> {
  await tx`
    update customer_onboardings set ${tx(change)} where ${inScope(tx, scope)} and id = ${id}`;
}

/** A currency and a cadence in which recurring prices of a plan exist. */
export interface PlanCadence {
  readonly currency: string;
  readonly billing_period: string;
  readonly billing_period_count: number;
}

/** The currencies and cadences of the published recurring prices of a plan, in the order of both. */
export async function cadencesOfPlan(db: Db, scope: Scope, planId: string): Promise<PlanCadence[]> {
  return await db<PlanCadence[]>`
    select distinct currency, billing_period, billing_period_count from prices
     where ${inScope(db, scope)} and entity_type = 'PLAN' and entity_id = ${planId}
       and status = 'published' and billing_cadence = 'RECURRING'
     order by currency, billing_period, billing_period_count`;
}
