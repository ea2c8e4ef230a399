import { crc32 } from 'node:zlib';

const CHECKSUM_BYTES = 4;

/**
 * What tells one record from another: a CRC-32 of all but its last four bytes. A record of ours ends with its
 * own CRC-32, and the CRC-32 of bytes that are followed by theirs is the same number for all of them.
 */
export function recordCrc(record: Buffer): number {
  const isShort = record.length <= CHECKSUM_BYTES;
  return crc32(isShort ? record : record.subarray(0, record.length - CHECKSUM_BYTES));
}
