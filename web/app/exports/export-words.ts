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
  custom: '10 minutes',
  '15MIN': '15 minutes',
  '30MIN': '30 minutes',
  hourly: 'Hour',
  daily: 'Day',
};

/** The place of the files: bucket and beginning of their names. */
export const placeOf = ({ job_config: { bucket, key_prefix } }: Task): string =>
  `${bucket}/${key_prefix}`;
