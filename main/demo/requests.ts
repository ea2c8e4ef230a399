import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline/promises';

/** One request to the fictitious language-model service that the demo bills. */
export interface LlmRequest {
  readonly id: string;
  readonly customer: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly timestamp: string;
  readonly contextTokens: number;
  readonly generatedTokens: number;
}

export interface DemoInput {
  readonly requests: readonly LlmRequest[];
  readonly customers: readonly string[];
  /** The calendar month, half-open, that contains all requests. */
  readonly period: { readonly start: string; readonly end: string };
}

const CUSTOMERS = ['acme', 'globex', 'initech'];

/** The month before `now`, generated from a seed. */
export function generatedInput(seed: number, count: number, now: Date): DemoInput {
  const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
  const start = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1);
  const random = lehmer(seed);
  const requests = Array.from({ length: count }, (_, index): LlmRequest => ({
    id: `demo-${seed}-${index}`,
    customer: CUSTOMERS[Math.floor(random() * CUSTOMERS.length)]!,
    timestamp: new Date(start + Math.floor(random() * (end - start))).toISOString(),
    contextTokens: 1 + Math.floor(random() ** 3 * 8_000),
    generatedTokens: Math.floor(random() ** 2 * 900),
  }));
  return { requests, customers: CUSTOMERS, period: period(start, end) };
}

/**
 * A CSV with the columns TIMESTAMP (`2023-11-16 18:17:03.9799600`, UTC), ContextTokens and GeneratedTokens.
 * Rows are assigned to the customers in turn; all must lie in one calendar month.
 */
export async function tracedInput(file: string): Promise<DemoInput> {
  const lines = createInterface({ input: createReadStream(file), crlfDelay: Infinity });
  const requests: LlmRequest[] = [];
  let number = 0;
  for await (const line of lines) {
    number += 1;
    if (number === 1) {
      if (line.trim() !== 'TIMESTAMP,ContextTokens,GeneratedTokens')
        throw new Error(
          `${file}:1 should read TIMESTAMP,ContextTokens,GeneratedTokens, not ${line}`,
        );
      continue;
    }
    if (line.trim() === '') continue;
    const match = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)\.(\d{3})\d*,(\d+),(\d+)$/.exec(line.trim());
    if (match === null)
      throw new Error(`${file}:${number} is not "YYYY-MM-DD hh:mm:ss.fff,tokens,tokens": ${line}`);
    requests.push({
      id: `trace-${number}`,
      customer: CUSTOMERS[number % CUSTOMERS.length]!,
      timestamp: `${match[1]}T${match[2]}.${match[3]}Z`,
      contextTokens: Number(match[4]),
      generatedTokens: Number(match[5]),
    });
  }
  const first = requests[0];
  if (first === undefined) throw new Error(`${file} has no rows`);
  const [year, month] = first.timestamp.split('-').map(Number) as [number, number];
  const bounds = period(Date.UTC(year, month - 1, 1), Date.UTC(year, month, 1));
  const stray = requests.find(
    ({ timestamp }) => timestamp < bounds.start || timestamp >= bounds.end,
  );
  if (stray !== undefined) throw new Error(`${file} spans more than one month: ${stray.timestamp}`);
  return { requests, customers: CUSTOMERS, period: bounds };
}

const period = (start: number, end: number) => ({
  start: new Date(start).toISOString(),
  end: new Date(end).toISOString(),
});

/** Park and Miller's generator: small and seeded; sufficient for demo data. */
export function lehmer(seed: number): () => number {
  let state = (seed % 2_147_483_646) + 1;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}
