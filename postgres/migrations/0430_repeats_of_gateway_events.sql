-- How often a gateway sent an event again. A repeat has no effect; the page of the payment shows that it came and why nothing
-- moved. The columns have constant defaults: the table is locked for an instant only.
alter table gateway_events add column repeats int not null default 0;
alter table gateway_events add column last_repeated_at timestamptz(3);
