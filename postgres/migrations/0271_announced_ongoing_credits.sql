-- The ongoing credits of a wallet that its receivers know: `wallet.ongoing_balance.updated` is sent when they
-- change. Null: never announced; then the receivers know the settled balance.
-- Locks wallets for a moment; no row is rewritten.
alter table wallets add column announced_ongoing_credits numeric(38, 18);
