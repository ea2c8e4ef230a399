import { currentEnvironment } from './environment.ts';
import { Refusal } from './refusal.ts';
import { authorized } from './session.ts';

/** Saves an answer of the API as a file: `path` begins below `/v1`. A link could not carry the session. */
export async function download(path: string, fileName: string): Promise<void> {
  saveFile(await (await fileAnswer(new Request(`/v1${path}`))).blob(), fileName);
}

/** How long the address of a file lives: a slow browser has read it by then. */
const ADDRESS_MS = 60_000;

/** Gives the content to the browser, which saves it under the name. */
export function saveFile(content: Blob, fileName: string): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), ADDRESS_MS);
}

/** The answer to a request whose body or answer is a file. Throws a `Refusal`. */
export async function fileAnswer(request: Request): Promise<Response> {
  const environment = currentEnvironment();
  if (environment !== null) request.headers.set('x-environment-id', environment);
  const response = await authorized(request);
  if (response.ok) return response;
  throw new Refusal(response.status, (await response.json().catch(() => ({}))) as object);
}
