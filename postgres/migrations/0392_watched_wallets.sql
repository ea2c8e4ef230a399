-- The job that evaluates wallets finds the environments with watched wallets here (money 4.12). A debit changes these
-- columns only if it raises or ends an alert. Locks wallets against writes while it is built: 33 ms for 100,000.
create index wallets_watched_idx on wallets (tenant_id, environment_id)
 where wallet_status = 'active' and status = 'published'
   and ((alert_settings ->> 'alert_enabled')::boolean or (auto_topup ->> 'enabled')::boolean or alert_state <> 'ok');
