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
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    await session.post('Profiler.takePreciseCoverage');
    await call();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    return result.filter(isProduct).reduce((sum, { functions }) => sum + stepsOf(functions), 0);
  } finally {
    await session.post('Profiler.stopPreciseCoverage');
    session.disconnect();
  }
}

const isProduct = ({ url }: { readonly url: string }): boolean => {
  const path = url.replace(ROOT, '').replace(`${process.cwd()}/`, '');
  return !/^([a-z]+:|\/|node_modules\/|test\/)/.test(path);
};

const stepsOf = (functions: readonly Profiler.FunctionCoverage[]): number =>
  functions.reduce((sum, { ranges }) => ranges.reduce((inner, { count }) => inner + count, sum), 0);
