import type { AreaOperations } from '../operation.ts';
import { coupons } from './coupons.ts';
import { invoice } from './invoice.ts';
import { taxes } from './taxes.ts';
import { wallets } from './wallets.ts';
import { credits } from './credits.ts';
import { periods } from './periods.ts';

/** Area of a case (its file's name) → its operations. One line for each file of this folder. */
export const registry: Readonly<Record<string, AreaOperations>> = {
  credits,
  wallets,
  taxes,
  invoice,
  coupons,
  periods,
};
