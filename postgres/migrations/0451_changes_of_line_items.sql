-- When the end of a line item was last set (billing 14.1), and the start of the running period in which the line began
-- or ended without prorations (billing 12.4). Null: never, or before this migration.
-- Locks line items for a moment; no row is rewritten.
alter table subscription_line_items
  add column end_set_at timestamptz(3),
  add column unsettled_in timestamptz(3);
