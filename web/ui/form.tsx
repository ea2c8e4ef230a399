import { zodResolver } from '@hookform/resolvers/zod';
import { useState, type ReactNode } from 'react';
import {
  FormProvider,
  get,
  useForm,
  type DefaultValues,
  type FieldValues,
  type Path,
  type UseFormReturn,
} from 'react-hook-form';
import type { z } from 'zod';
import { boundMessage } from '../../schemas/bound-message.ts';
import { Refusal } from '../client/refusal.ts';
import { Button, type ButtonTone } from './button.tsx';
import { Failure } from './query-state.tsx';
import { classNames } from './class-names.ts';
import styles from './form.module.css';

/** The values of a form as its fields hold them, before the schema reads them. */
type Values<Schema extends z.ZodType> = z.input<Schema> & FieldValues;

/**
 * A form over a schema of the API. The browser checks with the same schema as the server; a refusal of the
 * server is shown at the fields that its `details` name.
 *
 *     const form = useApiForm(CreateCustomerBody, { name: '', external_id: '' });
 *     <Form form={form} submit="Create customer" onSubmit={async (values) => { … }}>
 *       <TextField control={form.control} name="name" label="Name" />
 *     </Form>
 */
export function useApiForm<Schema extends z.ZodType>(
  schema: Schema,
  defaultValues: DefaultValues<Values<Schema>>,
): UseFormReturn<Values<Schema>> {
  return useForm<Values<Schema>>({
    // The values are sent as they were typed: the server reads them with the same schema.
    resolver: zodResolver(schema as never, { error: boundMessage }, { raw: true }) as never,
    defaultValues,
    // An error disappears while its field is corrected, not when the field loses focus: the button must not
    // move under the pointer.
    mode: 'all',
  });
}

const NEEDS_VALUES = 'Some fields need another value; see below each.';

export function Form<Fields extends FieldValues>({
  form,
  onSubmit,
  submit,
  tone = 'primary',
  secondary,
  isWide = false,
  children,
}: {
  readonly form: UseFormReturn<Fields>;
  /** Sends the values. A `Refusal` that it throws is shown at the fields. */
  readonly onSubmit: (values: Fields) => Promise<void>;
  /** Text of the button, a verb and a noun: "Create customer". */
  readonly submit: string;
  readonly tone?: ButtonTone;
  /** Beside the button: cancel, back. */
  readonly secondary?: ReactNode;
  readonly isWide?: boolean;
  readonly children: ReactNode;
}) {
  const [failure, setFailure] = useState<Error | null>(null);
  const send = form.handleSubmit(
    async (values) => {
      setFailure(null);
      try {
        await onSubmit(values);
      } catch (error) {
        setFailure(showAtFields(form, error as Error));
      }
    },
    // The cause may be a field that is not shown. The error must be visible all the same.
    () => setFailure(new Refusal(0, { code: 'invalid', message: NEEDS_VALUES })),
  );
  return (
    <FormProvider {...form}>
      <form
        className={classNames(styles.form, isWide && styles.wideForm)}
        noValidate
        onSubmit={(event) => void send(event)}
      >
        {children}
        {failure === null ? null : <Failure error={failure} />}
        <div className={styles.buttons}>
          <Button type="submit" tone={tone} isDisabled={form.formState.isSubmitting}>
            {form.formState.isSubmitting ? `${submit} …` : submit}
          </Button>
          {secondary}
        </div>
      </form>
    </FormProvider>
  );
}

/** Puts the details of a refusal at their fields. Returns the error with the details that have no field. */
export function showAtFields<Fields extends FieldValues>(
  form: UseFormReturn<Fields>,
  error: Error,
): Error {
  if (!(error instanceof Refusal)) return error;
  const others = error.details.filter(({ path, message }) => {
    // `tiers[1].up_to` of the API is `tiers.1.up_to` of the form.
    const name = (path ?? '').replace(/\[(\d+)\]/g, '.$1') as Path<Fields>;
    // What has no field of its own, for example a list of fields, cannot show an error.
    const field = get(form.control._fields, name) as { _f?: { mount?: boolean } } | undefined;
    if (field?._f?.mount !== true) return true;
    form.setError(name, { type: 'server', message: message ?? '' }, { shouldFocus: true });
    return false;
  });
  const { status, code, message, requestId } = error;
  const summary = others.length < error.details.length ? NEEDS_VALUES : message;
  return new Refusal(status, {
    code,
    message: summary,
    details: others,
    ...(requestId === null ? {} : { request_id: requestId }),
  });
}
