-- Refunds follow their payments to the invoice that replaces theirs (money 9.15). The replacement is inserted after the
-- original is void, so the reference is checked at the end of the transaction. Locks refunds for an instant; then moves
-- the refunds of payments that were moved before.
alter table refunds alter constraint refunds_invoice_id_fkey deferrable initially immediate;

update refunds r set invoice_id = p.destination_id
  from payments p
 where p.id = r.payment_id and p.destination_type = 'INVOICE' and r.invoice_id <> p.destination_id;
