import { BillingError } from '../../../domain/errors.ts';

/** 409: another invoice has the `idempotency_key`. */
export const keyReused = (): BillingError =>
  new BillingError(
    'conflict',
    'idempotency_key_reused',
    'This idempotency_key belongs to another invoice.',
    [{ path: 'idempotency_key', code: 'already_exists', message: 'belongs to another invoice' }],
  );
