-- When a line of a subscription is followed by its next version, its coupon gets an association for each of the two. On
-- an invoice with rows of both they have one discount (billing 7.3), so the later one names the first of them.
-- Associations that exist stay as they are. The new column reads no rows.
alter table coupon_associations add column first_association_id text;
