import { fileURLToPath } from 'node:url';
import { apiDocument } from '../../../api/app.ts';
import { INGEST_OPERATIONS } from '../../../ingest/routes.ts';
import { compare } from './compare.ts';
import { documentedOperations } from './document.ts';
import { readReference } from './reference.ts';
import { readMeant, report, type DriftReport } from './report.ts';

/** The contract is beside the checkout, or in SHARED_DIRECTORY. */
export const CONTRACT_DIRECTORY =
  process.env['SHARED_DIRECTORY'] ?? fileURLToPath(new URL('../../../../shared', import.meta.url));

/** Our document against the reference's contract; null where that is not at hand. */
export function runDrift(): DriftReport | null {
  const reference = readReference(CONTRACT_DIRECTORY);
  if (reference === null) return null;
  const document = JSON.parse(JSON.stringify(apiDocument(INGEST_OPERATIONS))) as object;
  return report(compare(documentedOperations(document), reference), readMeant());
}
