-- When `wallet.ongoing_balance.updated` was sent last for a wallet: it is sent at most once a minute (money 4.10).
-- Null: never, or before this migration.
-- Locks wallets for a moment; no row is rewritten.
alter table wallets add column ongoing_announced_at timestamptz(3);
