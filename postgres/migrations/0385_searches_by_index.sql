-- Behind row security an index is used for a condition only if its function is marked as leakproof. Marks those of
-- searches by metadata and of lists of ids, as 0025 marks those of texts, if the login is a superuser; the embedded
-- Postgres marks all of them at its start, and for others docs/operations.md gives the statements. Locks nothing.
do $$ begin
  alter function jsonb_contains(jsonb, jsonb) leakproof;
  alter function arrayoverlap(anyarray, anyarray) leakproof;
exception when insufficient_privilege then
  raise notice 'jsonb_contains and arrayoverlap stay leaky: only a superuser may change them';
end $$;
