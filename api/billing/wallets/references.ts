import { createHash } from 'node:crypto';

/** A reference that a command without a key makes up, the same for the same record. */
export const hashReference = (kind: string, id: string): string =>
  `${kind}-${createHash('sha256').update(id).digest('hex').slice(0, 16)}`;
