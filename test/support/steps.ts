import { Session } from 'node:inspector/promises';
import type { Profiler } from 'node:inspector';
import { pathToFileURL } from 'node:url';

const ROOT = pathToFileURL(`${process.cwd()}/`).href;

/**
 * How many blocks of the product's code a call runs: the engine's own exact counters of function calls
 * and of branch and loop bodies, so that the figure is the same on every machine. What native code
 * does (patterns, `indexOf`, `slice`) is not counted.
 */
export async function countSteps(call: () => unknown): Promise<number> {
  const scripts = await covered(call);
  return scripts.reduce((sum, { functions }) => sum + stepsOf(functions), 0);
}

/** The functions of the product's code that a call runs: `ingest/json-scanner.ts peek`. */
export async function functionsRun(call: () => unknown): Promise<string[]> {
  const scripts = await covered(call);
  return scripts.flatMap(({ url, functions }) =>
    functions.filter(isRun).map(({ functionName }) => `${pathOf(url)} ${functionName}`),
  );
}

const isRun = ({ ranges }: Profiler.FunctionCoverage): boolean => (ranges[0]?.count ?? 0) > 0;

async function covered(call: () => unknown): Promise<readonly Profiler.ScriptCoverage[]> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    await session.post('Profiler.takePreciseCoverage');
    await call();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    return result.filter(isProduct);
  } finally {
    await session.post('Profiler.stopPreciseCoverage');
    session.disconnect();
  }
}

const pathOf = (url: string): string => url.replace(ROOT, '').replace(`${process.cwd()}/`, '');

const isProduct = ({ url }: { readonly url: string }): boolean =>
  !/^([a-z]+:|\/|node_modules\/|test\/)/.test(pathOf(url));

const stepsOf = (functions: readonly Profiler.FunctionCoverage[]): number =>
  functions.reduce((sum, { ranges }) => ranges.reduce((inner, { count }) => inner + count, sum), 0);
