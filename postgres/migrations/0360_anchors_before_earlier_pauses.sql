-- Subscriptions that were paused before `earlier_anchors` existed get the anchors that those pauses moved, from the
-- records of the pauses: without them a term of a commitment, or a period that is computed again, follows the anchor
-- of today (billing 12.4). The anchor before a pause is the one that an earlier pause or a plan change set, or else
-- the one that the subscription began with. Anchors that are known stay. Locks the rows that it changes.
with paused as (
  select p.subscription_id, p.pause_start,
         case when p.pause_start >= p.original_period_end then p.resumed_at
              else p.original_period_start end as until,
         case when p.pause_start >= p.original_period_end then p.resumed_at
              else p.original_period_end + (p.resumed_at - p.pause_start) end as moved,
         p.original_period_start, p.original_period_end
    from subscription_pauses p
    join subscriptions s on s.id = p.subscription_id
   where p.pause_status = 'completed' and p.resumed_at is not null and s.billing_cycle = 'anniversary'
), periods as (
  select distinct on (subscription_id, until)
         subscription_id, until, pause_start, original_period_start, original_period_end,
         last_value(moved) over (
           partition by subscription_id, until order by pause_start
           rows between unbounded preceding and unbounded following) as moved
    from paused
   order by subscription_id, until, pause_start
), moves as (
  select *,
         lag(moved) over (partition by subscription_id order by until) as moved_before,
         lag(until) over (partition by subscription_id order by until) as until_before
    from periods
), began as (
  select m.*, s.customer_timezone as zone, s.billing_period, s.billing_period_count * case s.billing_period
           when 'DAILY' then interval '1 day' when 'WEEKLY' then interval '7 days'
           when 'MONTHLY' then interval '1 month' when 'QUARTERLY' then interval '3 months'
           when 'HALF_YEARLY' then interval '6 months' else interval '1 year' end as step,
         case when s.trial_end <= m.pause_start then s.trial_end else s.start_date end as start
    from moves m
    join subscriptions s on s.id = m.subscription_id
), firsts as (
  -- Without an anchor of its own, a subscription has that of its start: a boundary has its time and its day, or the
  -- last day of a shorter month. Otherwise the anchor is the first boundary after the start, counted back from the
  -- paused period: from its bound with the greater day, because a shorter month does not tell the day.
  select b.*, l.*,
         case when b.original_period_start > b.start
               and extract(day from l.begin_at) > extract(day from l.end_at) then l.begin_at
              else l.end_at end as bound,
         l.start_at::time = l.end_at::time
         and case b.billing_period
               when 'DAILY' then true
               when 'WEEKLY' then extract(dow from l.start_at) = extract(dow from l.end_at)
               else extract(day from l.start_at) = extract(day from l.end_at)
                 or (extract(day from l.start_at) > extract(day from l.end_at)
                     and extract(day from l.end_at + interval '1 day') = 1)
             end as is_of_start
    from began b,
         lateral (select b.start at time zone coalesce(nullif(b.zone, ''), 'UTC') as start_at,
                         b.original_period_end at time zone coalesce(nullif(b.zone, ''), 'UTC') as end_at,
                         b.original_period_start at time zone coalesce(nullif(b.zone, ''), 'UTC') as begin_at) l
), anchors as (
  select f.subscription_id, f.until,
         coalesce(
           (select max(e.until)
              from subscriptions s,
                   jsonb_to_recordset(s.earlier_plans) as e(until timestamptz, restarts boolean)
             where s.id = f.subscription_id and e.restarts and e.until <= f.pause_start
               and (f.until_before is null or e.until > f.until_before)),
           f.moved_before,
           case
             when f.is_of_start then f.start
             else (
               select min(x.boundary) at time zone coalesce(nullif(f.zone, ''), 'UTC')
                 from generate_series(0, 1200) as k,
                      lateral (select f.bound - k * f.step as boundary) x
                where x.boundary > f.start_at)
           end) as billing_anchor,
         f.moved
    from firsts f
), found as (
  select a.subscription_id,
         jsonb_build_object(
           'billing_anchor', to_char(a.billing_anchor at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
           'until', to_char(a.until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) as entry
    from anchors a
   where a.billing_anchor <> a.moved
), merged as (
  select s.id, jsonb_agg(all_of.entry order by all_of.entry ->> 'until') as earlier_anchors
    from subscriptions s,
         lateral (
           select known.entry from jsonb_array_elements(s.earlier_anchors) as known(entry)
           union all
           select f.entry from found f
            where f.subscription_id = s.id
              and not exists (select 1 from jsonb_array_elements(s.earlier_anchors) as known(entry)
                               where known.entry ->> 'until' = f.entry ->> 'until')
         ) all_of
   where s.id in (select subscription_id from found)
   group by s.id
)
update subscriptions s
   set earlier_anchors = m.earlier_anchors
  from merged m
 where s.id = m.id and s.earlier_anchors <> m.earlier_anchors;

-- Inherited subscriptions have the periods of their parent.
update subscriptions c
   set earlier_anchors = p.earlier_anchors
  from subscriptions p
 where p.id = c.parent_subscription_id and c.subscription_type = 'inherited'
   and c.earlier_anchors <> p.earlier_anchors;
