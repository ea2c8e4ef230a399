-- A version of a line item names the first line of those that follow each other. A coupon that is removed from one
-- version and added to a later one has one discount on an invoice with rows of both (billing 7.3).
-- Null: the first one, or a version that began before this migration. Locks line items for a moment; no row is rewritten.
alter table subscription_line_items add column first_line_item_id text;
