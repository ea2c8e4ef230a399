import { matching } from './primitives.ts';

export const COMPRESSIONS = ['none', 'gzip'] as const;
export const ENCRYPTIONS = ['AES256', 'aws:kms', 'aws:kms:dsse'] as const;

/** Name of a bucket of object storage. */
export const bucket = matching(
  /^[a-z0-9][a-z0-9.-]{0,61}[a-z0-9]$|^[a-z0-9]$/,
  63,
  'must be the name of a bucket',
);
