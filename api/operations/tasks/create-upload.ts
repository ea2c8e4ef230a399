import { createHash } from 'node:crypto';
import { BillingError } from '../../../domain/errors.ts';
import { readCsv } from '../../../platform/csv/read-csv.ts';
import { bodyDecoder, bodyTooLarge } from '../../../platform/http/decode-body.ts';
import { UPLOAD_BYTES_MAX, UPLOADS_KEPT_BYTES_MAX, type Upload } from '../../../schemas/task.ts';
import type { BillingDeps } from '../../deps.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { eventColumns } from './event-columns.ts';
import { insertUpload, keptUploadBytes, uploadAnswer } from './repository.ts';

/**
 * Stores a file of events for a task. The file is parsed to its end first: a file that cannot be split into
 * rows is refused here as a whole, and a task finds only rows that are invalid on their own. 413 above 5 MiB
 * decoded, 429 if the environment's files of seven days exceed 1 GiB.
 */
export async function createUpload(
  deps: BillingDeps,
  caller: Caller,
  file: {
    readonly body: Buffer;
    readonly encoding: string | undefined;
    readonly name: string | null;
  },
): Promise<Upload> {
  const decode = bodyDecoder(file.encoding, UPLOAD_BYTES_MAX);
  const content = decode === null ? file.body : await decode(file.body);
  if (content.length > UPLOAD_BYTES_MAX) throw bodyTooLarge(UPLOAD_BYTES_MAX);
  if ((await keptUploadBytes(deps.pool, caller.scope)) + content.length > UPLOADS_KEPT_BYTES_MAX)
    throw tooManyBytes();
  let columns: string[] | null = null;
  let row_count = 0;
  for await (const row of readCsv(content)) {
    if (columns === null) columns = eventColumns(row).map(({ name }) => name);
    else row_count += 1;
  }
  if (columns === null || row_count === 0) throw noRows();
  const upload = {
    ...newRecord(deps, caller, 'upload'),
    file_name: file.name,
    file_type: 'CSV' as const,
    size_bytes: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
    columns,
    row_count,
  };
  await insertUpload(deps.pool, upload, content);
  return uploadAnswer(upload);
}

const noRows = (): BillingError =>
  new BillingError('invalid', 'validation_error', 'The file has no rows below its first line.', [
    { path: 'body', code: 'too_small', message: 'has no rows' },
  ]);

const tooManyBytes = (): BillingError =>
  new BillingError(
    'rate_limited',
    'upload_quota_exceeded',
    `Files of the last seven days exceed ${UPLOADS_KEPT_BYTES_MAX / 1024 ** 3} GiB. Send more when the oldest are forgotten.`,
  );
