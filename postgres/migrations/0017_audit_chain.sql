-- What makes a change of the audit log visible (reliability, S25): per tenant a chain of hashes, each over
-- the one before and the row. A job appends to it behind the transactions that wrote the rows, so that
-- they do not wait for each other; `number` has no gaps. Locks nothing: all tables are new.
create table audit_chain (
  tenant_id text not null,
  number bigint not null,
  -- The row of audit_log.
  sequence bigint not null,
  hash bytea not null,
  primary key (tenant_id, number)
);
create unique index audit_chain_sequence_key on audit_chain (sequence);
create trigger audit_chain_append_only before update or delete or truncate on audit_chain
  for each statement execute function refuse_change();

-- One row. No row of audit_log up to `settled_sequence` is still to come: the transactions that could
-- have written one have ended. `noted_sequence` is settled as soon as no transaction before `noted_xid` runs.
create table audit_chain_progress (
  singleton boolean primary key default true
    constraint audit_chain_progress_one_row_check check (singleton),
  settled_sequence bigint not null default 0,
  noted_sequence bigint not null default 0,
  noted_xid xid8
);
insert into audit_chain_progress default values;
