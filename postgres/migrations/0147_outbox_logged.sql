-- Notifications also go to a Kafka topic where the event log is on Kafka: logged_at is when that topic
-- acknowledged one. The index finds the ones that are left; it leaves out old ones, whose payload is removed.
-- Locks outbox for the time of building it.
alter table outbox add column logged_at timestamptz(3);
create index outbox_unlogged_idx on outbox (sequence) where logged_at is null and payload is not null;
