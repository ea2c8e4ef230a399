-- The anchors that a subscription had before its pauses moved them: periods that began earlier keep their grid when
-- they are computed again (billing 12.4). Elements, in order of time: {billing_anchor, until}. A column with a
-- constant default locks `subscriptions` for an instant.
alter table subscriptions add column earlier_anchors jsonb not null default '[]';
