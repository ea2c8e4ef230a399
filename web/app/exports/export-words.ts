import type { ApiRecord } from '../../client/api.ts';

type Task = ApiRecord<'ScheduledTask'>;

/** What scheduled exports contain, as pages name it. */
export const EXPORTED: Readonly<Record<Task['entity_type'], string>> = {
  events: 'Events',
  invoice: 'Invoices',
  credit_topups: 'Credit top-ups',
  credit_usage: 'Credit usage',
  usage_analytics: 'Usage',
};

/** How often they run; each run exports one window of that length. */
export const INTERVALS: Readonly<Record<Task['interval'], string>> = {
  custom: 'Every 10 minutes',
  '15MIN': 'Every 15 minutes',
  '30MIN': 'Every 30 minutes',
  hourly: 'Hourly',
  daily: 'Daily',
};

/** How the storage encrypts the files. */
export const ENCRYPTION_WORDS: Readonly<Record<Task['job_config']['encryption'], string>> = {
  AES256: 'AES-256',
  'aws:kms': 'AWS KMS',
  'aws:kms:dsse': 'AWS KMS, two layers',
};

/** The place of the files: bucket and beginning of their names. */
export const placeOf = ({ job_config: { bucket, key_prefix } }: Task): string =>
  `${bucket}/${key_prefix}`;
