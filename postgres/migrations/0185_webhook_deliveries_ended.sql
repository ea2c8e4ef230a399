-- Finds ended deliveries that are old enough to be deleted. Locks writes to the table while the index is built.
create index webhook_deliveries_ended_idx on webhook_deliveries (updated_at)
 where delivery_status <> 'pending';
