import { useId } from 'react';
import { useController, type Control, type FieldPath, type FieldValues } from 'react-hook-form';
import { Button } from './button.tsx';
import styles from './form.module.css';

/** A PNG or JPEG file of this machine, kept as a data URI; empty text: none. */
export function ImageField<Fields extends FieldValues>({
  control,
  name,
  label,
  hint,
  isDisabled = false,
}: {
  readonly control: Control<Fields>;
  readonly name: FieldPath<Fields>;
  readonly label: string;
  readonly hint?: string;
  readonly isDisabled?: boolean;
}) {
  const { field, fieldState } = useController({ control, name });
  const id = useId();
  const image = String(field.value ?? '');
  const read = (file: File | undefined): void => {
    if (file === undefined) return;
    const reader = new FileReader();
    reader.onload = () => field.onChange(String(reader.result));
    reader.readAsDataURL(file);
  };
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {label}
        <span className={styles.optional}> optional</span>
      </label>
      {image === '' ? null : (
        <img className={styles.image} src={image} alt={`${label} as it is now`} />
      )}
      <input
        id={id}
        ref={field.ref}
        className={styles.file}
        type="file"
        accept="image/png,image/jpeg"
        disabled={isDisabled}
        aria-invalid={fieldState.invalid}
        aria-describedby={`${id}-hint ${id}-error`}
        onChange={(event) => read(event.target.files?.[0])}
        onBlur={field.onBlur}
      />
      <span id={`${id}-hint`} className={styles.hint}>
        {hint}
      </span>
      <span id={`${id}-error`} className={styles.error}>
        {fieldState.error?.message}
      </span>
      {image === '' || isDisabled ? null : (
        <span>
          <Button small onPress={() => field.onChange('')}>
            Remove the image
          </Button>
        </span>
      )}
    </div>
  );
}
