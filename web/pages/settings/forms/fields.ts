import type * as z from 'zod';

interface Named {
  readonly label: string;
  /** What the value is for, its unit, or an example. */
  readonly hint?: string;
}

/** How one field of a setting is edited. */
export type Field =
  | (Named & {
      readonly kind: 'text';
      /** Several lines. */
      readonly rows?: number;
      readonly isCode?: boolean;
      /** The code of a currency. */
      readonly isCurrency?: boolean;
      readonly isRequired?: boolean;
      /** Empty text means that the field is not set; without it empty text is a value. */
      readonly isUnset?: boolean;
    })
  /** An integer; empty means that the field is not set. */
  | (Named & { readonly kind: 'whole'; readonly isRequired?: boolean })
  /** Seconds, asked in a unit that people choose; empty means that the field is not set. */
  | (Named & { readonly kind: 'duration' })
  /** A decimal, kept as text; empty means that the field is not set. */
  | (Named & { readonly kind: 'decimal'; readonly isRequired?: boolean })
  | (Named & { readonly kind: 'switch' })
  /** One of several words. */
  | (Named & { readonly kind: 'choice'; readonly choices: Choices })
  /** A list of some of several words. */
  | (Named & { readonly kind: 'choices'; readonly choices: Choices })
  /** A list of texts or integers, one on each line. */
  | (Named & { readonly kind: 'lines'; readonly of: 'text' | 'whole' })
  /** A PNG or JPEG image as a data URI. */
  | (Named & { readonly kind: 'image' })
  /** An object. */
  | (Named & {
      readonly kind: 'group';
      readonly fields: Fields;
      /** The object is not set while this field of it is empty. */
      readonly unsetWithout?: string;
      /** Shown and sent only where a field beside it has this value. */
      readonly only?: readonly [field: string, value: string];
    })
  /** A list of objects. */
  | (Named & {
      readonly kind: 'rows';
      /** One of them, in the singular: "slab". */
      readonly noun: string;
      readonly fields: Fields;
      /** The field whose value names a row. */
      readonly title?: string;
      /** Rows are neither added nor removed here. */
      readonly isFixed?: boolean;
      /** Shown only where a field beside it has this value; kept as they are elsewhere. */
      readonly shownFor?: readonly [field: string, value: string];
    })
  /** An object with keys that people choose. */
  | (Named & {
      readonly kind: 'pairs';
      readonly noun: string;
      /** With `isCurrency` the keys are codes of currencies. */
      readonly key: Named & { readonly isCurrency?: boolean };
      readonly value: Field;
    })
  /** Kept as it is. */
  | { readonly kind: 'kept' };

export type Choices = readonly (readonly [value: string, text: string])[];
export type Fields = Readonly<Record<string, Field>>;

/** The form of one setting. */
export interface SettingForm {
  readonly label: string;
  /** What the setting is for. */
  readonly about: string;
  /** The schema with which the server checks the value. */
  readonly schema: z.ZodType<object>;
  readonly fields: Fields;
  /** Only super admins read it. */
  readonly isSecret?: boolean;
}

/** A form has an entry for every field that the schema has: a new field of the schema does not compile without one. */
export function formOf<Schema extends z.ZodType<object>>(
  label: string,
  about: string,
  schema: Schema,
  fields: { readonly [Key in keyof Required<z.input<Schema>>]: Field },
): SettingForm {
  return { label, about, schema, fields };
}
