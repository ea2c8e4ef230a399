import { z } from 'zod';
import { id, optionalMetadata, optionalOneOf, recordFields } from './primitives.ts';
import { searchSchemas } from './search.ts';
import { PAYMENT_GATEWAYS } from './words.ts';

/** A saved method of a customer. The gateway keeps the card; no number is stored here. */
export const PaymentMethod = z
  .object({
    ...recordFields,
    customer_id: z.string(),
    connection_id: z.string(),
    payment_gateway: z.string(),
    /** The gateway's own id of the method. */
    gateway_method_id: z.string(),
    method_type: z.string(),
    brand: z.string().nullable(),
    last4: z.string().nullable(),
    exp_month: z.int().nullable(),
    exp_year: z.int().nullable(),
    /** The method that is charged when none is named. */
    is_default: z.boolean(),
    metadata: z.record(z.string(), z.string()),
  })
  .meta({ id: 'PaymentMethod' });
export type PaymentMethod = z.infer<typeof PaymentMethod>;

export const SavePaymentMethodBody = z
  .object({
    /** The gateway's own id of the method, from its form in the browser. */
    gateway_method_id: id,
    /** Needed only if several gateways are connected. */
    payment_gateway: optionalOneOf(PAYMENT_GATEWAYS),
    /** Absent: the first method of a customer is the default. */
    is_default: z.boolean().nullish(),
    metadata: optionalMetadata,
  })
  .meta({ id: 'SavePaymentMethod' });
export type SavePaymentMethodBody = z.output<typeof SavePaymentMethodBody>;

export const UpdatePaymentMethodBody = z
  .object({ is_default: z.boolean().nullish(), metadata: optionalMetadata })
  .meta({ id: 'UpdatePaymentMethod' });
export type UpdatePaymentMethodBody = z.output<typeof UpdatePaymentMethodBody>;

export const PaymentMethodParams = z.object({ id, payment_method_id: id });

export const PaymentMethodSearch = searchSchemas({
  fields: { created_at: 'time', updated_at: 'time' },
  filters: (kind) => ({ payment_gateway: kind.oneOf(PAYMENT_GATEWAYS) }),
});
