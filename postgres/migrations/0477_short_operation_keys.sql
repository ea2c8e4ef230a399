-- An entry of an index holds 8 kB. The key of a change names each of its rows, so the index refused the cancellation of a
-- subscription of about a thousand fees. The hash of the key is short. Locks the changes of subscriptions against writes
-- while it runs.
alter table subscription_changes disable trigger user;
update subscription_changes
   set operation_key = encode(sha256(convert_to(operation_key, 'UTF8')), 'hex');
alter table subscription_changes enable trigger user;
