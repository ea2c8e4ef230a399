-- A paused subscription ends at its end date or with its scheduled cancellation (billing 12.8, 13). It was due at the
-- end of its pause only, so without one it never ended. Locks the rows that it changes.
update subscriptions
   set due_at = least(due_at, cancel_at, end_date)
 where subscription_status = 'paused' and subscription_type <> 'inherited' and status = 'published'
   and least(cancel_at, end_date) is not null;
