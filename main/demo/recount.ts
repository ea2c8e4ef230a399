import type { LlmRequest } from './requests.ts';

/** The quantities that each price of the demo must bill one customer, counted from the input alone. */
export interface Recount {
  readonly requests: bigint;
  readonly contextTokens: bigint;
  readonly generatedTokens: bigint;
  /** Sum of the largest context of each UTC hour. */
  readonly hourlyPeaks: bigint;
}

/**
 * Counts the input with plain integer arithmetic, each request id once. It uses no meters, windows or prices
 * of the product, so the comparison is independent.
 */
export function recount(requests: readonly LlmRequest[], customer: string): Recount {
  const seen = new Set<string>();
  const peaks = new Map<string, number>();
  let contextTokens = 0n;
  let generatedTokens = 0n;
  for (const request of requests) {
    if (request.customer !== customer || seen.has(request.id)) continue;
    seen.add(request.id);
    contextTokens += BigInt(request.contextTokens);
    generatedTokens += BigInt(request.generatedTokens);
    const hour = request.timestamp.slice(0, 13);
    peaks.set(hour, Math.max(peaks.get(hour) ?? 0, request.contextTokens));
  }
  const hourlyPeaks = [...peaks.values()].reduce((sum, peak) => sum + BigInt(peak), 0n);
  return { requests: BigInt(seen.size), contextTokens, generatedTokens, hourlyPeaks };
}
