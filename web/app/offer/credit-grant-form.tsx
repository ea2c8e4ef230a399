import { useQueryClient } from '@tanstack/react-query';
import { useWatch } from 'react-hook-form';
import * as z from 'zod';
import { answerOf, api } from '../../client/api.ts';
import { FieldRow, SelectField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { formatWord } from '../../ui/text.ts';
import { notify } from '../../ui/toasts.tsx';
import {
  CREDIT_GRANT_CADENCES,
  CREDIT_GRANT_EXPIRATION_TYPES,
  CREDIT_GRANT_EXPIRATION_UNITS,
  CREDIT_GRANT_PERIODS,
} from '../../../schemas/words.ts';
import { ENTITY, ownerField, type Offer } from './offer.ts';

const Body = z
  .object({
    name: z.string().trim().min(1, 'is required').max(255),
    credits: z.string().trim().regex(/^\d{1,20}(\.\d{1,18})?$/, 'must be a number, for example 100'), // prettier-ignore
    cadence: z.enum(CREDIT_GRANT_CADENCES),
    period: z.enum(CREDIT_GRANT_PERIODS),
    expiration_type: z.enum(CREDIT_GRANT_EXPIRATION_TYPES),
    expiration_duration: z.string().trim(),
    expiration_duration_unit: z.enum(CREDIT_GRANT_EXPIRATION_UNITS),
  })
  .refine(
    ({ expiration_type, expiration_duration }) =>
      expiration_type !== 'DURATION' || /^[1-9]\d{0,4}$/.test(expiration_duration),
    { path: ['expiration_duration'], message: 'must be a whole number, for example 30' },
  );

/** Gives the subscribers of a plan or an addon prepaid credits, once or in each period. */
export function CreditGrantForm({
  offer,
  onDone,
}: {
  readonly offer: Offer;
  readonly onDone: () => void;
}) {
  const queries = useQueryClient();
  const form = useApiForm(Body, {
    name: '',
    credits: '',
    cadence: 'RECURRING',
    period: 'MONTHLY',
    expiration_type: 'NEVER',
    expiration_duration: '30',
    expiration_duration_unit: 'DAY',
  });
  const { control } = form;
  const [cadence, expires] = useWatch({ control, name: ['cadence', 'expiration_type'] });
  return (
    <Form
      form={form}
      submit="Add credit grant"
      onSubmit={async (written) => {
        const { name, credits, period, expiration_type } = written;
        await answerOf(
          api.POST('/creditgrants', {
            body: {
              ...{ name, credits, cadence: written.cadence, expiration_type },
              scope: ENTITY[offer.kind],
              ...ownerField(offer),
              ...(written.cadence === 'RECURRING' ? { period, period_count: 1 } : {}),
              ...(expiration_type === 'DURATION'
                ? {
                    expiration_duration: Number(written.expiration_duration),
                    expiration_duration_unit: written.expiration_duration_unit,
                  }
                : {}),
            },
          }),
        );
        notify('Credit grant added');
        await queries.invalidateQueries();
        onDone();
      }}
    >
      <TextField control={control} name="name" label="Name" isRequired autoFocus />
      <TextField control={control} name="credits" label="Credits" kind="decimal" isRequired />
      <FieldRow>
        <SelectField
          control={control}
          name="cadence"
          label="Granted"
          isRequired
          choices={[
            ['RECURRING', 'In each period'],
            ['ONETIME', 'Once, at the start'],
          ]}
        />
        {cadence === 'RECURRING' ? (
          <SelectField
            control={control}
            name="period"
            label="Period"
            isRequired
            choices={wordsOf(CREDIT_GRANT_PERIODS)}
          />
        ) : null}
      </FieldRow>
      <SelectField
        control={control}
        name="expiration_type"
        label="Credits expire"
        isRequired
        choices={[
          ['NEVER', 'Never'],
          ['BILLING_CYCLE', 'With the billing period'],
          ['DURATION', 'After some time'],
        ]}
      />
      {expires === 'DURATION' ? (
        <FieldRow>
          <TextField control={control} name="expiration_duration" label="Expire after" isRequired />
          <SelectField
            control={control}
            name="expiration_duration_unit"
            label="Unit"
            isRequired
            choices={wordsOf(CREDIT_GRANT_EXPIRATION_UNITS)}
          />
        </FieldRow>
      ) : null}
    </Form>
  );
}

const wordsOf = <Word extends string>(words: readonly Word[]) =>
  words.map((word) => [word, formatWord(word)] as const);
