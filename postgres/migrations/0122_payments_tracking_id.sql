-- Refunds and disputes name the payment of a gateway's page by a second id. Building the index blocks writes to
-- payments for the time of one scan.
create index payments_gateway_tracking_id_idx on payments (connection_id, gateway_tracking_id)
 where gateway_tracking_id is not null;
