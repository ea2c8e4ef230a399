import { BillingError } from '../../../domain/errors.ts';

/** 401 for an invalid answer of an identity provider; the reason is for the person who configures it. */
export const refused = (reason: string): BillingError =>
  new BillingError(
    'unauthenticated',
    'saml_refused',
    `The answer of the identity provider was refused: ${reason}.`,
  );
