-- When the gateway last answered a question about the payment. `last_synced_at` counts questions without an answer too:
-- it decides when to ask again.
alter table payments add column last_answered_at timestamptz(3);
update payments set last_answered_at = last_synced_at
 where last_synced_at is not null and payment_status in ('INITIATED', 'PENDING', 'PROCESSING');
