import { statfsSync } from 'node:fs';
import { check, fine, type Check } from '../../api/operations/doctor/check.ts';
import type { InstanceAddresses } from '../instance-file.ts';

const FREE_GB_MIN = 2;
const FREE_SHARE_MIN = 0.1;
const ANSWER_MS_MAX = 5_000;

/** Free disk space of the data directory. */
export function checkDisk(directory: string): Check {
  const { bavail, blocks, bsize } = statfsSync(directory);
  const free = (bavail * bsize) / 1e9;
  const share = bavail / Math.max(blocks, 1);
  return check(
    'disk space',
    `${free.toFixed(1)} GB free (${Math.round(share * 100)} %) for ${directory}`,
    free < FREE_GB_MIN || share < FREE_SHARE_MIN,
    'free some space, or move DATA_DIR to a larger disk while the product is stopped',
  );
}

/** Whether each role reports that it is ready. */
export async function checkRoles({ operations_ports }: InstanceAddresses): Promise<Check[]> {
  const roles = Object.entries(operations_ports).map(async ([role, port]) => {
    const answer = await textOf(port, '/readyz');
    const found = answer === null ? 'no answer' : readiness(answer.text);
    const mend = 'read the log of the role; the supervisor starts one again that has ended';
    return check(`role ${role}`, found, answer?.status !== 200, mend);
  });
  return Promise.all(roles);
}

/** Requests that blocked an event loop, counted by route since the start of the processes. */
export async function checkEventLoops({ operations_ports }: InstanceAddresses): Promise<Check[]> {
  const answers = await Promise.all(
    Object.values(operations_ports).map((port) => textOf(port, '/metrics')),
  );
  const blocks = answers.flatMap((answer) => (answer === null ? [] : loopBlocks(answer.text)));
  if (blocks.length === 0) return [fine('event loop', 'no block was counted')];
  const mend = 'the log of the role has the shape of the request; report it';
  return blocks.map(({ route, count }) =>
    check(`event loop ${route}`, `blocked ${count} times`, true, mend),
  );
}

export interface LoopBlocks {
  readonly route: string;
  readonly count: number;
}

/** Nonzero block counts from a metrics page. */
export function loopBlocks(metrics: string): LoopBlocks[] {
  const lines = metrics.matchAll(/^\w*event_loop_block\w*_total\{([^}\n]*)\} (\d+)/gm);
  return [...lines].flatMap(([, labels, count]) => {
    const route = /(?:^|,)route="([^"]*)"/.exec(labels!)?.[1] ?? 'without a route';
    return Number(count) === 0 ? [] : [{ route, count: Number(count) }];
  });
}

function readiness(text: string): string {
  try {
    const { status, components } = JSON.parse(text) as {
      status: string;
      components: Record<string, string>;
    };
    const parts = Object.entries(components).filter(([, state]) => state !== 'up');
    return [status, ...parts.map(([name, state]) => `${name} ${state}`)].join(', ');
  } catch {
    return 'no readable answer';
  }
}

async function textOf(
  port: number,
  path: string,
): Promise<{ status: number; text: string } | null> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS_MAX);
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { signal });
    return { status: response.status, text: await response.text() };
  } catch {
    return null;
  }
}
