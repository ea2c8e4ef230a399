import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useWatch } from 'react-hook-form';
import * as z from 'zod';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { FieldRow, SelectField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { notify } from '../../ui/toasts.tsx';
import { CustomerField } from '../billing/customer-field.tsx';
import { customerQuery } from '../customer-query.ts';
import { midnight } from '../range.ts';
import { AssociationFields, ChangeableTerms, termsOf } from './association-fields.tsx';
import { TaxRateField } from './tax-rate-field.tsx';

export interface TaxedEntity {
  readonly entity_type: ApiRecord<'TaxAssociation'>['entity_type'];
  readonly entity_id: string;
}

const Body = ChangeableTerms.extend({
  tax_rate_code: z.string().min(1, 'choose a tax rate'),
  entity_type: z.enum(['tenant', 'customer', 'subscription', 'invoice']),
  entity_id: z.string(),
  currency: z.string().trim(),
  start_date: z.string(),
  end_date: z.string(),
}).refine(({ entity_type, entity_id }) => entity_type === 'tenant' || entity_id !== '', {
  path: ['entity_id'],
  message: 'choose a customer',
});

/** Assigns a tax rate. What is known already, the rate or who is taxed, is not asked. */
export function AssignForm({
  code = null,
  entity = null,
  zone: given,
  onDone,
}: {
  /** Of the rate. */
  readonly code?: string | null;
  readonly entity?: TaxedEntity | null;
  /** The days begin at its midnight, or at that of the customer who is chosen. */
  readonly zone: string;
  readonly onDone: () => void;
}) {
  const queries = useQueryClient();
  const form = useApiForm(Body, {
    tax_rate_code: code ?? '',
    entity_type: entity?.entity_type ?? 'tenant',
    entity_id: entity?.entity_id ?? '',
    ...{ tax_behavior: 'exclusive', priority: '0', auto_apply: true },
    ...{ currency: '', start_date: '', end_date: '' },
  });
  const { control } = form;
  const [type, chosen] = useWatch({ control, name: ['entity_type', 'entity_id'] });
  const isChosen = entity === null && type === 'customer' && chosen !== '';
  const customer = useQuery({ ...customerQuery(chosen), enabled: isChosen });
  const zone = isChosen ? (customer.data?.timezone ?? given) : given;
  const instantOf = (day: string): string | null => (day === '' ? null : midnight(day, zone));
  return (
    <Form
      form={form}
      submit="Assign tax"
      onSubmit={async ({ entity_type, entity_id, ...written }) => {
        await answerOf(
          api.POST('/taxes/associations', {
            body: {
              tax_rate_code: written.tax_rate_code,
              entity_type,
              ...(entity_type === 'tenant' ? {} : { entity_id }),
              ...termsOf(written),
              currency: written.currency,
              start_date: instantOf(written.start_date),
              end_date: instantOf(written.end_date),
            },
          }),
        );
        await queries.invalidateQueries();
        notify('Tax assigned');
        onDone();
      }}
    >
      {code === null ? <TaxRateField control={control} name="tax_rate_code" /> : null}
      {entity === null ? (
        <>
          <SelectField
            control={control}
            name="entity_type"
            label="For"
            hint="A tax of a customer replaces those of everyone; a tax of a subscription is assigned on its page."
            isRequired
            choices={[
              ['tenant', 'Everyone'],
              ['customer', 'One customer'],
            ]}
          />
          {type === 'customer' ? <CustomerField control={control} name="entity_id" /> : null}
        </>
      ) : null}
      <AssociationFields control={control} />
      <TextField
        control={control}
        name="currency"
        label="Currency"
        kind="currency"
        hint="Empty: invoices in every currency."
      />
      <FieldRow>
        <TextField
          control={control}
          name="start_date"
          label="From"
          hint={`Midnight, ${zone}. Empty: from now on.`}
          kind="date"
        />
        <TextField
          control={control}
          name="end_date"
          label="Before"
          hint={`Midnight, ${zone}. Empty: without an end.`}
          kind="date"
        />
      </FieldRow>
    </Form>
  );
}
