import type { Control, FieldPath, FieldValues } from 'react-hook-form';
import { ENVIRONMENT_MODES } from '../../app/environment-mode.tsx';
import { SelectField, TextField } from '../../ui/fields.tsx';

/** Name and mode of a new environment. */
export function EnvironmentFields<Fields extends FieldValues & { name: string; type: string }>({
  control,
}: {
  readonly control: Control<Fields>;
}) {
  return (
    <>
      <TextField
        control={control}
        name={'name' as FieldPath<Fields>}
        label="Name"
        isRequired
        autoFocus
      />
      <SelectField
        control={control}
        name={'type' as FieldPath<Fields>}
        label="Mode"
        hint="Test bills nobody and has test clocks. Live bills customers. The mode never changes; the settings of the company limit the number of each."
        isRequired
        choices={ENVIRONMENT_MODES}
      />
    </>
  );
}
