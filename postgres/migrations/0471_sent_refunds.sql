-- Whether a refund may have reached its gateway. Times cannot tell it: the clock of a customer may differ from the one in
-- which a connection is deleted. Refunds of before may all have been sent. Locks refunds for the time of one update.
alter table refunds add column was_sent boolean not null default false;
update refunds set was_sent = true where gateway_idempotency_token is not null;
