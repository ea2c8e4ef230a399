import { measureGrants, writeGrantAlerts } from '../api/billing/alerts/grant-alerts.ts';
import { measureSpend, writeSpendAlerts } from '../api/billing/alerts/spend-alerts.ts';
import {
  scopesWithAlerts,
  watchedIds,
  watchedOf,
  type WatchedKind,
} from '../api/billing/alerts/watched-repository.ts';
import { inParts } from '../api/conventions/in-parts.ts';
import type { BillingDeps } from '../api/deps.ts';
import type { Scope, Transaction } from '../postgres/client.ts';
import { holdJobLease } from '../postgres/tables/job-leases.ts';
import type { Job, JobRun } from './job.ts';
import { takeTurns, type Turn } from './scope-turns.ts';

/** Subscriptions, or customers, per page: one grouped read of usage and one transaction. */
const PAGE = 100;
const NOT_EVALUATED = 'alerts are not evaluated';

/**
 * Evaluates the alerts on spend and on granted usage from current usage (api 44, money 20.3, 7.12). The alerts
 * of wallets and features are evaluated with the balance (`evaluate-wallets`). Environments take turns. Usage
 * is read before the transaction; the lease excludes a second run, so each change is written once.
 */
export const evaluateAlerts: Job<BillingDeps> = {
  name: 'evaluate-alerts',
  cron: '*/5 * * * * *',
  ofCustomers: { workAt: watchedOf },
  async run(deps, run) {
    const totals = { changed: 0 };
    for (const kind of ['spend', 'grants'] as const) {
      const scopes = await scopesWithAlerts(deps.pool, kind, run);
      await takeTurns(run, scopes, (scope) => pages(deps, run, kind, scope, totals));
    }
    return totals;
  },
};

function pages(
  deps: BillingDeps,
  run: JobRun,
  kind: WatchedKind,
  scope: Scope,
  totals: { changed: number },
): Turn {
  let after = '';
  return async () => {
    const ids = await watchedIds(deps.pool, kind, scope, run, { after, limit: PAGE });
    const { results, failed } = await inParts(ids, async (part) => {
      const write = await EVALUATIONS[kind](deps, run, scope, part);
      return await deps.pool.begin(async (tx) => {
        await holdJobLease(tx, run.lease);
        return await write(tx);
      });
    });
    for (const changed of results) totals.changed += changed;
    for (const { item, error } of failed) run.fail?.({ ...scope, id: item }, error, NOT_EVALUATED);
    after = ids.at(-1) ?? after;
    return ids.length === PAGE;
  };
}

/** Measures a page. Returns a function that writes the changes and returns their number. */
type Evaluation = (
  deps: BillingDeps,
  run: JobRun,
  scope: Scope,
  ids: readonly string[],
) => Promise<(tx: Transaction) => Promise<number>>;

const EVALUATIONS: Readonly<Record<WatchedKind, Evaluation>> = {
  async spend(deps, run, scope, ids) {
    const measured = await measureSpend(deps, scope, ids, run.at, (subscription_id, error) =>
      run.fail?.({ ...scope, id: subscription_id }, error, NOT_EVALUATED),
    );
    return (tx) => writeSpendAlerts(tx, deps, { scope, user_id: '' }, measured, run.at);
  },
  async grants(deps, run, scope, ids) {
    const measured = await measureGrants(deps, scope, ids, run.at);
    return (tx) => writeGrantAlerts(tx, deps, { scope, user_id: '' }, measured, run.at);
  },
};
