-- Typed clients cannot decode a contact person whose first name is null: it is empty when unknown.
-- Locks the rows of customers that have such a person; there are few.
update customers
   set contact_persons = (
     select jsonb_agg(
              case when person ->> 'first_name' is null then person || '{"first_name": ""}' else person end
              order by place)
       from jsonb_array_elements(contact_persons) with ordinality as listed (person, place))
 where contact_persons @? '$[*] ? (@.first_name == null)';
