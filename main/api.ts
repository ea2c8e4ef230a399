import { apiPart } from './api-part.ts';
import { startHttpRole } from './http-role.ts';
import { runRole } from './role.ts';
import { createRuntime } from './runtime.ts';

/** The billing API alone. Stateless: run as many processes as the load needs. */
const runtime = createRuntime('api');
await runRole(runtime, () => startHttpRole(runtime, [apiPart]));
