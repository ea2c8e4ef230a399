import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { Plus, Trash2 } from 'lucide-react';
import { useFieldArray, useWatch } from 'react-hook-form';
import { answerOf, api } from '../../client/api.ts';
import { Allowed } from '../person.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { FieldRow, SelectField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Card, Columns, Page, Row, Section } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { formatCurrency, formatWord } from '../../ui/text.ts';
import { notify } from '../../ui/toasts.tsx';
import { BILLING_PERIODS } from '../../../schemas/words.ts';
import { Calculator } from './calculator.tsx';
import { ENTITY, LIST, type Priced } from './offer.ts';
import { PriceGroupField } from './price-group-field.tsx';
import { isComplete, NEW_PRICE, PriceFields, priceOf } from './price-fields.ts';
import styles from './price-editor.module.css';

const METERS_SHOWN = 200;

/** The editor of a price: every model, with what a quantity costs beside it while it is written. */
export function PriceEditor({
  kind,
  name,
}: {
  readonly kind: Priced['kind'];
  readonly name?: string | undefined;
}) {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const meters = useQuery({
    queryKey: ['meters-to-choose'],
    queryFn: ({ signal }) =>
      answerOf(api.POST('/meters/search', { body: { limit: METERS_SHOWN }, signal })),
  });
  const noun = formatWord(kind);
  return (
    <Page
      title="New price"
      crumbs={[
        { label: `${noun}s`, to: LIST[kind] },
        { label: name ?? noun, to: `${LIST[kind]}/${id}` },
      ]}
    >
      <Loaded query={meters} what="meters">
        {({ items }) => (
          <Editor
            owner={{ kind, id }}
            meters={items.map((meter) => [meter.id, meter.name] as const)}
          />
        )}
      </Loaded>
    </Page>
  );
}

function Editor({
  owner,
  meters,
}: {
  readonly owner: Pick<Priced, 'kind' | 'id'>;
  readonly meters: readonly (readonly [string, string])[];
}) {
  const navigate = useNavigate();
  const page = `${LIST[owner.kind]}/${owner.id}`;
  const queries = useQueryClient();
  const form = useApiForm(PriceFields, NEW_PRICE);
  const { control } = form;
  const values = useWatch({ control }) as PriceFields;
  const { fields, append, remove } = useFieldArray({ control, name: 'tiers' });
  const isTiered = values.billing_model === 'TIERED';
  const currency = formatCurrency(values.currency);
  return (
    <Columns>
      <Section title="Terms">
        <Card>
          <Form
            form={form}
            submit="Create price"
            secondary={<ButtonLink to={page}>Cancel</ButtonLink>}
            onSubmit={async (written) => {
              await answerOf(
                api.POST('/prices', {
                  body: {
                    ...priceOf(written),
                    entity_type: ENTITY[owner.kind],
                    entity_id: owner.id,
                  },
                }),
              );
              notify('Price created');
              await queries.invalidateQueries();
              await navigate({ to: page });
            }}
          >
            <TextField control={control} name="display_name" label="Name" isRequired />
            {owner.kind === 'cost sheet' ? null : (
              <SelectField
                control={control}
                name="type"
                label="Charges for"
                isRequired
                choices={[
                  ['FIXED', 'Fixed fee'],
                  ['USAGE', 'Metered usage'],
                ]}
              />
            )}
            {values.type === 'USAGE' ? (
              <SelectField
                control={control}
                name="meter_id"
                label="Meter"
                isRequired
                choices={[['', 'Choose a meter'], ...meters]}
              />
            ) : null}
            <FieldRow>
              <TextField
                control={control}
                name="currency"
                label="Currency"
                kind="currency"
                isRequired
              />
              <SelectField
                control={control}
                name="billing_period"
                label="Billing period"
                isRequired
                choices={BILLING_PERIODS.map((word) => [word, formatWord(word)] as const)}
              />
            </FieldRow>
            <SelectField
              control={control}
              name="billing_model"
              label="Model"
              isRequired
              choices={[
                ['FLAT_FEE', 'Flat: each unit costs the same'],
                ['PACKAGE', 'Package: each started package of units'],
                ['TIERED', 'Tiered: the rate depends on the quantity'],
              ]}
            />
            {isTiered ? (
              <SelectField
                control={control}
                name="tier_mode"
                label="Tiers"
                isRequired
                choices={[
                  ['SLAB', 'Slab: each unit at the rate of its tier'],
                  ['VOLUME', 'Volume: all units at the rate of the last tier reached'],
                ]}
              />
            ) : (
              <TextField
                control={control}
                name="amount"
                label={`${values.billing_model === 'PACKAGE' ? 'Package price' : 'Amount'} in ${currency}`}
                kind="decimal"
                isRequired
              />
            )}
            {values.billing_model === 'PACKAGE' ? (
              <FieldRow>
                <TextField
                  control={control}
                  name="divide_by"
                  label="Package size"
                  kind="decimal"
                  isRequired
                />
                <SelectField
                  control={control}
                  name="round"
                  label="Partial packages"
                  isRequired
                  choices={[
                    ['up', 'Charged in full'],
                    ['down', 'Not charged'],
                  ]}
                />
              </FieldRow>
            ) : null}
            {isTiered ? (
              <>
                <p>Unit prices and flat fees are in {currency}.</p>
                <ul className={styles.tiers} aria-label="Tiers">
                  {fields.map((field, index) => (
                    <li key={field.id}>
                      <TextField
                        control={control}
                        name={`tiers.${index}.up_to`}
                        label={`Tier ${index + 1} up to`}
                        kind="decimal"
                        isRequired={index < fields.length - 1}
                        placeholder={index === fields.length - 1 ? 'no end' : ''}
                      />
                      <TextField
                        control={control}
                        name={`tiers.${index}.unit_amount`}
                        label="Unit price"
                        kind="decimal"
                        isRequired
                      />
                      <TextField
                        control={control}
                        name={`tiers.${index}.flat_amount`}
                        label="Flat fee"
                        kind="decimal"
                      />
                      <Button
                        tone="quiet"
                        aria-label={`Remove tier ${index + 1}`}
                        isDisabled={fields.length < 2}
                        icon={<Trash2 size={15} aria-hidden />}
                        onPress={() => remove(index)}
                      />
                    </li>
                  ))}
                </ul>
                <Row>
                  <Button
                    small
                    icon={<Plus size={14} aria-hidden />}
                    onPress={() => append({ up_to: '', unit_amount: '', flat_amount: '' })}
                  >
                    Add tier
                  </Button>
                </Row>
              </>
            ) : null}
            <SelectField
              control={control}
              name="invoice_cadence"
              label="Billing timing"
              isRequired
              choices={[
                ['ARREAR', 'In arrears, after the period'],
                ['ADVANCE', 'In advance, at the start of the period'],
              ]}
            />
            {owner.kind === 'cost sheet' ? null : (
              <Allowed to="group:read">
                <PriceGroupField control={control} name="group_id" />
              </Allowed>
            )}
          </Form>
        </Card>
      </Section>
      <Section title="Calculator">
        <Card>
          {isComplete(values) ? (
            <Calculator of={{ price: priceOf({ ...values, meter_id: '', type: 'FIXED' }) }} />
          ) : (
            <p>Enter the amounts to see what a quantity costs.</p>
          )}
        </Card>
      </Section>
    </Columns>
  );
}
