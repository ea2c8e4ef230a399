-- What is asked about one contract is read by indexes, however many contracts there are. Without them, with 100,000
-- subscriptions, the subscriptions of a payer took 140 ms (the balance of a wallet asks for them), and the rows that a
-- change credits 190 ms; the lists of a customer's page read every row of the environment. Each index locks its table
-- against writes while it is built: 250 ms for 200,000 line items.

-- Subscriptions of a payer.
create index subscriptions_payer_idx
    on subscriptions (tenant_id, environment_id, (coalesce(invoicing_customer_id, customer_id)));
create index subscription_line_items_customer_id_idx
    on subscription_line_items (tenant_id, environment_id, customer_id);
create index subscription_schedules_subscription_id_idx
    on subscription_schedules (tenant_id, environment_id, subscription_id, created_at desc, id desc);

-- Rows of a line item that hold no service: those that do are in `invoice_line_items_identity_key`.
create index invoice_line_items_released_idx on invoice_line_items (subscription_line_item_id, period_start)
 where subscription_line_item_id is not null and not holds_slot;

create index payments_customer_id_idx
    on payments (tenant_id, environment_id, customer_id, created_at desc, id desc);
create index credit_notes_customer_id_idx
    on credit_notes (tenant_id, environment_id, customer_id, created_at desc, id desc);
create index credit_notes_subscription_id_idx
    on credit_notes (tenant_id, environment_id, subscription_id, created_at desc, id desc)
 where subscription_id is not null;
create index refunds_customer_id_idx
    on refunds (tenant_id, environment_id, customer_id, created_at desc, id desc);
create index refunds_credit_note_id_idx on refunds (tenant_id, environment_id, credit_note_id)
 where credit_note_id is not null;
