-- A debit changes the credits of a block. The indexes of blocks asked for `credits_available > 0`, and Postgres writes
-- every index of a row again if a column that one of them names has changed: of 21,898 updates of blocks in
-- `bench/wallets.ts` none stayed without it, and they took 11 of the 31 seconds of all statements of 20,000
-- debits. The indexes now name a column that changes only when a block is used up or gets credits back.
--
-- Locks: the column is added without a rewrite. Filling it locks the blocks with credits. The check and the two indexes
-- lock the table against writes for one scan each.
alter table wallet_transactions add column holds_credits boolean not null default false;

create or replace function keep_wallet_transaction() returns trigger language plpgsql as $$
declare
  changing text[] := array['credits_available', 'holds_credits', 'updated_at', 'updated_by'];
begin
  if tg_op = 'DELETE' then
    raise exception 'wallet transaction % is not deleted: the ledger is appended to', old.id;
  end if;
  if old.transaction_status = 'pending' then
    changing := changing || array[
      'transaction_status', 'credit_balance_before', 'credit_balance_after', 'expiry_date',
      'description', 'metadata'];
  end if;
  if (to_jsonb(old) - changing) <> (to_jsonb(new) - changing) then
    raise exception 'wallet transaction % is not changed: the ledger is appended to', old.id;
  end if;
  return new;
end
$$;

-- Comparing both rows as JSON took 6 of the 8 seconds that were left of the updates of blocks. The trigger compares the
-- columns itself, and calls the function only if one of them has changed.
drop trigger keep_wallet_transaction on wallet_transactions;
create trigger keep_wallet_transaction before delete on wallet_transactions
  for each row execute function keep_wallet_transaction();
create trigger keep_changed_wallet_transaction before update on wallet_transactions
  for each row when (
    row(old.id, old.tenant_id, old.environment_id, old.wallet_id, old.customer_id, old.type,
        old.transaction_status, old.transaction_reason, old.credit_amount, old.amount, old.currency,
        old.credit_balance_before, old.credit_balance_after, old.conversion_rate, old.topup_conversion_rate,
        old.priority, old.expiry_date, old.parent_transaction_id, old.consumption_breakdown,
        old.reference_type, old.reference_id, old.source_type, old.source_id, old.idempotency_key,
        old.description, old.metadata, old.status, old.created_at, old.created_by)
    is distinct from
    row(new.id, new.tenant_id, new.environment_id, new.wallet_id, new.customer_id, new.type,
        new.transaction_status, new.transaction_reason, new.credit_amount, new.amount, new.currency,
        new.credit_balance_before, new.credit_balance_after, new.conversion_rate, new.topup_conversion_rate,
        new.priority, new.expiry_date, new.parent_transaction_id, new.consumption_breakdown,
        new.reference_type, new.reference_id, new.source_type, new.source_id, new.idempotency_key,
        new.description, new.metadata, new.status, new.created_at, new.created_by))
  execute function keep_wallet_transaction();

-- The conditions are cheap: the function runs only when the answer changes.
create function note_held_credits() returns trigger language plpgsql as $$
begin
  new.holds_credits := new.credits_available > 0;
  return new;
end
$$;
create trigger note_held_credits_of_new before insert on wallet_transactions
  for each row when (new.credits_available > 0) execute function note_held_credits();
create trigger note_held_credits before update on wallet_transactions
  for each row when (new.holds_credits is distinct from (new.credits_available > 0))
  execute function note_held_credits();

update wallet_transactions set holds_credits = true where credits_available > 0;
alter table wallet_transactions add constraint wallet_transactions_holds_credits_check
  check (holds_credits = (credits_available > 0));

drop index wallet_transactions_blocks_idx;
create index wallet_transactions_blocks_idx
    on wallet_transactions (tenant_id, environment_id, wallet_id) where holds_credits;
drop index wallet_transactions_expiry_date_idx;
create index wallet_transactions_expiry_date_idx
    on wallet_transactions (expiry_date) where holds_credits and expiry_date is not null;
