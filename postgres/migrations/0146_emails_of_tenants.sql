-- E-mails to customers carry the tenant in their payload, and a tenant may send a limited number an hour: the
-- index counts them. Locks emails_outbox for the time of building it; rows stay for seven days.
create index emails_outbox_tenant_idx
    on emails_outbox ((payload ->> 'tenant_id'), sent_at) where payload ? 'tenant_id';
