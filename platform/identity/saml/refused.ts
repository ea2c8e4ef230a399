import { BillingError } from '../../../domain/errors.ts';

/** 401 for an answer of an identity provider that does not hold; the reason is for who sets it up. */
export const refused = (reason: string): BillingError =>
  new BillingError(
    'unauthenticated',
    'saml_refused',
    `The answer of the identity provider was refused: ${reason}.`,
  );
