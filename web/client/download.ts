import { currentEnvironment } from './environment.ts';
import { Refusal } from './refusal.ts';
import { authorized } from './session.ts';

/** Saves an answer of the API as a file: `path` begins below `/v1`. A link could not carry the session. */
export async function download(path: string, fileName: string): Promise<void> {
  const request = new Request(`/v1${path}`);
  const environment = currentEnvironment();
  if (environment !== null) request.headers.set('x-environment-id', environment);
  const response = await authorized(request);
  if (!response.ok)
    throw new Refusal(response.status, (await response.json().catch(() => ({}))) as object);
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = address;
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(address);
}
