import { setTimeout as sleep } from 'node:timers/promises';
import type { Tree } from './tree.ts';

const ANSWER_MS_MAX = 60_000;
const RETRY_MS = 250;

export interface Asked {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string;
  /** Statuses that are repeated too, beside 408, 429 and all from 500 on. */
  readonly again?: readonly number[];
}

export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Repeats a call until it is answered with success, as a careful client does: it does not know whether a call without
 * an answer was done, so only calls that may be done twice go through here. Throws for a refusal.
 */
export async function untilAnswered<Answer>(
  tree: Pick<Tree, 'baseUrl' | 'apiKey'>,
  { method, path, body, contentType = 'application/json', again = [] }: Asked,
): Promise<Answer> {
  for (;;) {
    const answered = await fetch(`${tree.baseUrl}/v1${path}`, {
      method,
      headers: { 'content-type': contentType, 'x-api-key': tree.apiKey },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    })
      .then(async (response) => ({ status: response.status, text: await response.text() }))
      .catch(() => null);
    if (answered !== null) {
      const { status, text } = answered;
      if (status < 300) return JSON.parse(text) as Answer;
      const mayPass = status >= 500 || status === 408 || status === 429 || again.includes(status);
      if (!mayPass)
        throw new Refused(status, `${method} ${path} answered ${status}: ${text.slice(0, 500)}`);
    }
    await sleep(RETRY_MS);
  }
}
