import { registerApi } from '../api/app.ts';
import type { HttpPart } from './http-role.ts';
import type { Runtime } from './runtime.ts';

/** The billing API as a part of a server. */
export async function apiPart(runtime: Runtime): Promise<HttpPart> {
  const deps = await runtime.billingDeps();
  const { authenticate } = await runtime.apiKeyAuth();
  return {
    register: (app) => registerApi(app, { deps, authenticate }),
    close: async () => {},
  };
}
