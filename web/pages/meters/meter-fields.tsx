import { useWatch, type UseFormReturn } from 'react-hook-form';
import { AGGREGATION_TYPES, BUCKET_SIZES, RESET_USAGES } from '../../../schemas/words.ts';
import { FieldRow, SelectField, TextAreaField, TextField } from '../../ui/fields.tsx';
import { formatWord } from '../../ui/text.ts';
import type { EditMeterForm, MeterForm } from './definition.ts';

const choicesOf = (words: readonly string[]) =>
  words.map((word) => [word, formatWord(word)] as const);

/** What a meter counts. A change of a saved meter also has the day from which it applies. */
export function MeterFields(
  props:
    | { readonly form: UseFormReturn<MeterForm>; readonly isEdit?: false }
    | { readonly form: UseFormReturn<EditMeterForm>; readonly isEdit: true },
) {
  const { control } = props.form as UseFormReturn<MeterForm>;
  const type = useWatch({ control, name: 'aggregation.type' });
  const bucket = useWatch({ control, name: 'aggregation.bucket_size' });
  return (
    <>
      <FieldRow>
        <TextField control={control} name="name" label="Name" isRequired placeholder="Tokens" />
        <TextField
          control={control}
          name="event_name"
          label="Event name"
          isRequired
          placeholder="completion"
        />
      </FieldRow>
      <FieldRow>
        <SelectField
          control={control}
          name="aggregation.type"
          label="Aggregation"
          isRequired
          choices={choicesOf(AGGREGATION_TYPES)}
        />
        {type === 'COUNT' ? null : (
          <TextField
            control={control}
            name="aggregation.field"
            label="Property"
            placeholder="tokens"
          />
        )}
        {type === 'SUM_WITH_MULTIPLIER' ? (
          <TextField
            control={control}
            name="aggregation.multiplier"
            label="Multiplier"
            kind="decimal"
          />
        ) : null}
      </FieldRow>
      {type === 'COUNT' || type === 'COUNT_UNIQUE' ? null : (
        <TextField
          control={control}
          name="aggregation.expression"
          label="Expression"
          hint="Instead of a property, for example: input_tokens + output_tokens."
        />
      )}
      <TextAreaField
        control={control}
        name="filters"
        label={props.isEdit === true ? 'Also count events where' : 'Only events where'}
        hint={
          props.isEdit === true
            ? 'One property per line. The values are added to those that count already, for example region = asia.'
            : 'One property per line, with the values that count, for example region = eu, us.'
        }
        rows={2}
        isCode
      />
      <FieldRow>
        {type === 'MAX' && bucket !== '' ? (
          <TextField
            control={control}
            name="aggregation.group_by"
            label="Group by property"
            hint="The highest value of each group is added up."
          />
        ) : null}
        <SelectField
          control={control}
          name="aggregation.bucket_size"
          label="Bucket size"
          hint="Values are combined per bucket first."
          choices={[['', 'None'], ...BUCKET_SIZES.map((size) => [size, size] as const)]}
        />
        <SelectField
          control={control}
          name="reset_usage"
          label="Usage resets"
          isRequired
          choices={choicesOf(RESET_USAGES)}
        />
      </FieldRow>
      {props.isEdit === true ? (
        <TextField
          control={props.form.control}
          name="effective_day"
          label="Applies to periods from"
          kind="date"
          hint="Without a day: the periods that begin after the change (UTC)."
        />
      ) : null}
    </>
  );
}
