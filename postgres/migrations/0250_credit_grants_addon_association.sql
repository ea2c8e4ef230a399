-- The instance of an addon that brought a grant: ending it ends its grants, and not those of another instance.
alter table credit_grants add column addon_association_id text references addon_associations (id);
