import { invalidField } from '../../../domain/errors.ts';
import type { SyncConfig } from '../../../schemas/connection.ts';
import type { S3JobConfigBody, ScheduledTask } from '../../../schemas/scheduled-task.ts';

/**
 * The destination and format of a new export: what the request says, then what the connection says
 * (`sync_config.s3`), then the defaults. A later change of the connection moves no export. 400 if neither says
 * the bucket or the region.
 */
export function jobConfigOf(
  sent: S3JobConfigBody,
  s3: SyncConfig['s3'],
): ScheduledTask['job_config'] {
  const of = (field: 'bucket' | 'region'): string => {
    const value = sent[field] ?? s3?.[field];
    if (value != null && value !== '') return value;
    throw invalidField(`job_config.${field}`, 'is required: the connection names none');
  };
  return {
    ...sent,
    bucket: of('bucket'),
    region: of('region'),
    key_prefix: sent.key_prefix ?? s3?.key_prefix ?? '',
    compression: sent.compression ?? s3?.compression ?? 'none',
    encryption: sent.encryption ?? s3?.encryption ?? 'AES256',
  };
}
