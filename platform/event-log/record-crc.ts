import { crc32 } from 'node:zlib';

const CHECKSUM_BYTES = 4;

/**
 * Distinguishes records: a CRC-32 of all but the last four bytes. Our records end with their own CRC-32, and
 * the CRC-32 over data plus its own CRC-32 is the same constant for all records.
 */
export function recordCrc(record: Buffer): number {
  const isShort = record.length <= CHECKSUM_BYTES;
  return crc32(isShort ? record : record.subarray(0, record.length - CHECKSUM_BYTES));
}
