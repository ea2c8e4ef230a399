-- Whether money can be taken over the connection: it is to a gateway, and has the credentials that its adapter needs.
-- They are encrypted, so that no query can read them.
alter table connections add column takes_payments boolean not null default false;
update connections set takes_payments = true
 where provider_type = 'test' or (provider_type = 'stripe' and secret_data is not null);
