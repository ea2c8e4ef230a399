import { createHash } from 'node:crypto';

/** The reference of a command that was sent without a key; the same for the same record. */
export const hashReference = (kind: string, id: string): string =>
  `${kind}-${createHash('sha256').update(id).digest('hex').slice(0, 16)}`;
