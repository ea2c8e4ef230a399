-- Wallets and their transactions. A wallet transaction is never deleted, and a completed one never changes
-- except for the credits that are left in it: a completed credit is a block (money 2.3). Locks
-- nothing: all tables are new.
create table wallets (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  customer_id text not null references customers (id),
  name text not null,
  description text,
  currency text not null,
  wallet_type text not null constraint wallets_wallet_type_check check (wallet_type in ('PRE_PAID', 'POST_PAID')),
  wallet_status text not null constraint wallets_wallet_status_check
    check (wallet_status in ('active', 'frozen', 'closed')),
  -- Price of one credit when it is spent, and when it is bought.
  conversion_rate numeric(38, 18) not null constraint wallets_conversion_rate_check check (conversion_rate > 0),
  topup_conversion_rate numeric(38, 18) not null constraint wallets_topup_conversion_rate_check
    check (topup_conversion_rate > 0),
  credit_balance numeric(38, 18) not null default 0,
  balance numeric(38, 18) not null default 0,
  -- Credits left in the blocks of the wallet, and what a manual debit took beyond them.
  credits_in_blocks numeric(38, 18) not null default 0,
  overdraft numeric(38, 18) not null default 0,
  allowed_price_types text[] not null,
  alert_settings jsonb,
  alert_state text not null default 'ok' constraint wallets_alert_state_check
    check (alert_state in ('ok', 'info', 'warning', 'in_alarm')),
  auto_topup jsonb,
  metadata jsonb not null default '{}',
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default '',
  constraint wallets_credits_in_blocks_check check (credits_in_blocks >= 0),
  constraint wallets_overdraft_check check (overdraft >= 0),
  constraint wallets_credit_balance_check check (credit_balance = credits_in_blocks - overdraft)
);
create unique index wallets_customer_id_currency_key
    on wallets (tenant_id, environment_id, customer_id, currency, wallet_type)
 where wallet_status = 'active' and status = 'published';
create index wallets_environment_id_idx on wallets (tenant_id, environment_id, created_at desc, id desc);
create index wallets_customer_id_idx on wallets (tenant_id, environment_id, customer_id);

create table wallet_transactions (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  wallet_id text not null references wallets (id),
  customer_id text not null,
  type text not null constraint wallet_transactions_type_check check (type in ('credit', 'debit')),
  transaction_status text not null constraint wallet_transactions_transaction_status_check
    check (transaction_status in ('pending', 'completed', 'failed')),
  transaction_reason text not null,
  credit_amount numeric(38, 18) not null constraint wallet_transactions_credit_amount_check check (credit_amount > 0),
  amount numeric(38, 18) not null,
  currency text not null,
  credit_balance_before numeric(38, 18) not null,
  credit_balance_after numeric(38, 18) not null,
  credits_available numeric(38, 18) not null,
  conversion_rate numeric(38, 18),
  topup_conversion_rate numeric(38, 18),
  priority integer constraint wallet_transactions_priority_check check (priority >= 0),
  -- Exclusive: at this instant the credits are expired.
  expiry_date timestamptz(3),
  parent_transaction_id text references wallet_transactions (id),
  -- [{credit_transaction_id, credits}]: the blocks that a debit was taken from.
  consumption_breakdown jsonb not null default '[]',
  reference_type text,
  reference_id text,
  source_type text,
  source_id text,
  idempotency_key text,
  description text,
  metadata jsonb not null default '{}',
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default '',
  -- Only a completed credit holds credits.
  constraint wallet_transactions_credits_available_check check (
    credits_available >= 0 and credits_available <= credit_amount
    and (credits_available = 0 or (type = 'credit' and transaction_status = 'completed'))),
  constraint wallet_transactions_credit_balance_check check (
    transaction_status <> 'completed'
    or credit_balance_after = credit_balance_before + case type when 'credit' then credit_amount else -credit_amount end)
);
create unique index wallet_transactions_idempotency_key_key
    on wallet_transactions (tenant_id, environment_id, idempotency_key) where idempotency_key is not null;
create index wallet_transactions_environment_id_idx
    on wallet_transactions (tenant_id, environment_id, created_at desc, id desc);
create index wallet_transactions_wallet_id_idx
    on wallet_transactions (tenant_id, environment_id, wallet_id, created_at desc, id desc);
create index wallet_transactions_blocks_idx
    on wallet_transactions (tenant_id, environment_id, wallet_id) where credits_available > 0;
create index wallet_transactions_expiry_date_idx
    on wallet_transactions (expiry_date) where credits_available > 0 and expiry_date is not null;
create index wallet_transactions_reference_id_idx
    on wallet_transactions (tenant_id, environment_id, reference_id) where reference_id is not null;
create index wallet_transactions_parent_transaction_id_idx
    on wallet_transactions (parent_transaction_id) where parent_transaction_id is not null;

-- The ledger is appended to. A pending row may complete or fail; of a completed row only the credits that
-- are left may change.
create function keep_wallet_transaction() returns trigger language plpgsql as $$
declare
  changing text[] := array['credits_available', 'updated_at', 'updated_by'];
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
create trigger keep_wallet_transaction before update or delete on wallet_transactions
  for each row execute function keep_wallet_transaction();
