import { startHttpRole } from './http-role.ts';
import { ingestPart } from './ingest-part.ts';
import { runRole } from './role.ts';
import { createRuntime } from './runtime.ts';

/** The ingest edge alone. Stateless: run as many processes as the load needs. */
const runtime = createRuntime('ingest');
await runRole(runtime, () => startHttpRole(runtime, [ingestPart]));
