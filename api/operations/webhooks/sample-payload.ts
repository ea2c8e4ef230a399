import { z } from 'zod';
import { notFound } from '../../../domain/errors.ts';
import { payloadOf, type WebhookPayload } from '../../../schemas/webhooks/payloads.ts';

/** The part of JSON Schema that payloads use. */
interface Shape {
  readonly $ref?: string;
  /** Several for a value that may be null. */
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Shape[];
  readonly items?: Shape;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
}

type Shapes = Readonly<Record<string, Shape>>;

const SAMPLE_ULID = '01J00000000000000000000000';
const SAMPLE_TIME = '2026-03-01T00:00:00.000Z';
/** Texts that are not words: an amount, a code, a name of a time zone. */
const SAMPLE_TEXTS: Readonly<Record<string, string>> = {
  currency: 'usd',
  timezone: 'UTC',
  email: 'customer@example.com',
  hosted_invoice_url: 'https://example.com/invoices/1',
  invoice_pdf_url: 'https://example.com/invoices/1.pdf',
  amount: '12.5',
  amount_due: '12.5',
  amount_paid: '0',
  amount_remaining: '12.5',
  balance: '12.5',
  conversion_rate: '1',
  credit_amount: '12.5',
  credit_balance: '12.5',
  credit_balance_after: '12.5',
  credit_balance_before: '0',
  current_balance: '12.5',
  current_spend: '12.5',
  quantity: '1',
  real_time_balance: '12.5',
  real_time_credit_balance: '12.5',
  subtotal: '12.5',
  threshold: '10',
  total: '12.5',
  total_amount: '12.5',
  usage_ratio: '1',
};

/**
 * The body of a notification of that type with made-up values (money 17.3.2). It has every key of a real one, and no
 * field is null if it ever has a value, so that each shows its form. 404 for an unknown type.
 */
export function samplePayload(type: string): WebhookPayload {
  const option = payloadOf(type);
  if (option === undefined) throw notFound('Event type', type);
  const { $defs, ...shape } = z.toJSONSchema(option) as Shape & { readonly $defs?: Shapes };
  return { ...(sampleOf(shape, '', $defs ?? {}) as object), event_type: type } as WebhookPayload;
}

function sampleOf(shape: Shape, key: string, named: Shapes): unknown {
  if (shape.$ref !== undefined)
    return sampleOf(named[shape.$ref.slice('#/$defs/'.length)]!, key, named);
  if (shape.enum !== undefined) return shape.enum[0];
  if (shape.anyOf !== undefined) return sampleOf(shape.anyOf[0]!, key, named);
  switch (typeof shape.type === 'object' ? shape.type[0] : shape.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(shape.properties ?? {})
          .filter(([name]) => shape.required?.includes(name))
          .map(([name, field]) => [name, sampleOf(field, name, named)]),
      );
    case 'array':
      return [sampleOf(shape.items!, key, named)];
    case 'null':
      return null;
    case 'number':
    case 'integer':
      return 1;
    case 'boolean':
      return false;
    default:
      return sampleText(shape, key);
  }
}

function sampleText({ format }: Shape, key: string): string {
  if (format === 'date-time') return SAMPLE_TIME;
  if (SAMPLE_TEXTS[key] !== undefined) return SAMPLE_TEXTS[key];
  if (key === 'id' || key.endsWith('_id'))
    return `${key.replace(/_?id$/, '') || 'record'}_${SAMPLE_ULID}`;
  return key.replaceAll('_', ' ');
}
