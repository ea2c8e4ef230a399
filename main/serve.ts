import { apiPart } from './api-part.ts';
import { startHttpRole } from './http-role.ts';
import { ingestPart } from './ingest-part.ts';
import { runRole } from './role.ts';
import { createRuntime } from './runtime.ts';

/** The ingest edge and the API on one origin, for one machine. */
const runtime = createRuntime('serve');
await runRole(runtime, () => startHttpRole(runtime, [ingestPart, apiPart]));
