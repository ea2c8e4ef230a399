import { randomUUID } from 'node:crypto';

/** A form with the parameters of a statement, for the body of a request. */
export interface ParamForm {
  readonly contentType: string;
  readonly body: Buffer;
}

/**
 * Parameters with a longer text are sent in the body. A server refuses a long address, and a statement on many
 * buckets has megabytes of parameters. The limit is that of the driver, which does the same for its own queries
 * but not for commands and binary answers.
 */
const ADDRESS_CHARACTERS_MAX = 4_096;

/** The parameters as a form, or null if they are short enough for the address. */
export function formOfLongParams(params: Readonly<Record<string, unknown>>): ParamForm | null {
  const texts = Object.entries(params).map(([name, value]) => [name, paramText(value)] as const);
  const length = texts.reduce((sum, [name, text]) => sum + name.length + text.length, 0);
  if (length <= ADDRESS_CHARACTERS_MAX) return null;
  const boundary = `----meterline-${randomUUID()}`;
  const parts = texts.map(
    ([name, text]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="param_${name}"\r\n\r\n${text}\r\n`,
  );
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.from(`${parts.join('')}--${boundary}--\r\n`),
  };
}

/** The text form of a parameter: the values that statements of the product have. */
function paramText(value: unknown): string {
  if (typeof value === 'string') return escaped(value);
  if (Array.isArray(value)) return `[${value.map(elementText).join(',')}]`;
  return scalarText(value);
}

function elementText(value: unknown): string {
  if (typeof value === 'string') return `'${escaped(value)}'`;
  return Array.isArray(value) ? paramText(value) : scalarText(value);
}

function scalarText(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  throw new TypeError(`A parameter of a statement must not be of the type ${typeof value}.`);
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\t': '\\t', '\n': '\\n', '\r': '\\r', "'": "\\'", '\\': '\\\\',
}; // prettier-ignore

const escaped = (text: string): string => text.replace(/[\t\n\r'\\]/g, (found) => ESCAPES[found]!);
