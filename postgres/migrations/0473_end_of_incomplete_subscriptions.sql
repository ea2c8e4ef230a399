-- An incomplete subscription ends at its end date or with its scheduled cancellation (billing 13). It was never due, so it
-- stayed incomplete. Locks the rows that it changes.
update subscriptions
   set due_at = least(cancel_at, end_date)
 where subscription_status = 'incomplete' and subscription_type <> 'inherited' and status = 'published'
   and due_at is null and least(cancel_at, end_date) is not null;
