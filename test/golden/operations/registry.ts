import type { AreaOperations } from '../operation.ts';
import { coupons } from './coupons.ts';
import { invoice } from './invoice.ts';
import { taxes } from './taxes.ts';
import { wallets } from './wallets.ts';
import { credits } from './credits.ts';
import { creditGrants } from './credit-grants.ts';
import { refundsCreditNotes } from './refunds-credit-notes.ts';
import { lifecycle } from './lifecycle.ts';
import { commitments } from './commitments.ts';
import { entitlements } from './entitlements.ts';
import { pricing } from './pricing.ts';
import { proration } from './proration.ts';
import { aggregation } from './aggregation.ts';
import { metering } from './metering.ts';
import { periods } from './periods.ts';

/** Area of a case (its file's name) → its operations. One line for each file of this folder. */
export const registry: Readonly<Record<string, AreaOperations>> = {
  lifecycle,
  refunds_credit_notes: refundsCreditNotes,
  credit_grants: creditGrants,
  credits,
  wallets,
  taxes,
  invoice,
  coupons,
  commitments,
  entitlements,
  pricing,
  proration,
  aggregation,
  metering,
  periods,
};
