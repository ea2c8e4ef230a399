import type { Db } from '../../../postgres/client.ts';

/** A wallet whose figures contradict each other, with the contradiction. */
export interface WalletFault {
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly wallet_id: string;
  readonly faults: readonly string[];
}

/**
 * Wallets of all tenants after that id, by id, each with its contradictions; no faults if its figures agree with its
 * ledger. For the operator's audit only.
 */
export async function comparedWallets(
  db: Db,
  after: string,
  limit: number,
): Promise<(WalletFault & { readonly id: string })[]> {
  return await db<(WalletFault & { id: string })[]>`
    with page as (
      select id, tenant_id, environment_id, balance, credit_balance, credits_in_blocks, overdraft, conversion_rate
        from wallets
       where id > ${after}
       order by id limit ${limit}),
    sums as (
      select t.wallet_id,
             coalesce(sum(credits_available), 0) as in_blocks,
             coalesce(sum(case type when 'credit' then credit_amount else -credit_amount end)
                        filter (where transaction_status = 'completed'), 0) as moved
        from wallet_transactions t where t.wallet_id in (select id from page)
       group by t.wallet_id),
    taken as (
      select t.wallet_id, part ->> 'credit_transaction_id' as block_id,
             sum((part ->> 'credits')::numeric) as credits
        from wallet_transactions t, jsonb_array_elements(t.consumption_breakdown) part
       where t.wallet_id in (select id from page)
       group by 1, 2),
    overdrawn as (
      select k.wallet_id from taken k
        left join wallet_transactions b on b.id = k.block_id and b.wallet_id = k.wallet_id
        left join lateral (
          select coalesce(sum(r.credit_amount), 0) as credits from wallet_transactions r
           where r.parent_transaction_id = b.id and r.transaction_reason = 'INVOICE_VOID_REFUND') back on true
       where b.id is null or k.credits > b.credit_amount + back.credits
       group by k.wallet_id)
    select p.id, p.id as wallet_id, p.tenant_id, p.environment_id,
           array_remove(array[
             case when p.credit_balance <> coalesce(s.in_blocks, 0) - p.overdraft
                  then 'the balance is not the credits of the blocks less the overdraft' end,
             case when p.credits_in_blocks <> coalesce(s.in_blocks, 0)
                  then 'the stored sum of the blocks differs from the blocks' end,
             case when p.credit_balance <> coalesce(s.moved, 0)
                  then 'the completed transactions do not add up to the balance' end,
             case when abs(p.balance - p.credit_balance * p.conversion_rate) > 0.000000000000000001
                  then 'the balance is not credits times rate' end,
             case when o.wallet_id is not null
                  then 'debits took more from a block than it had' end], null) as faults
      from page p
      left join sums s on s.wallet_id = p.id
      left join overdrawn o on o.wallet_id = p.id
     order by p.id`;
}
