import { freePort } from '../../platform/free-port.ts';
import { startBenchProcess, type BenchProcess } from '../processes.ts';
import type { LoadResult, LoadSettings } from './load-process.ts';
import type { LogStore } from './log-store.ts';

export interface EdgeMeasurement extends LoadResult {
  readonly eventsPerSecond: number;
  /** CPU seconds per million events, by process. */
  readonly cpu: string;
}

/** Edges and load tool run in separate processes on this machine; a warm-up precedes the measured time. */
export async function measureEdge(
  store: LogStore,
  edges: number,
  load: Omit<LoadSettings, 'ports'>,
  seconds: number,
): Promise<EdgeMeasurement> {
  const ports: number[] = [];
  for (let n = 0; n < edges; n++) ports.push(await freePort());
  const script = new URL('./edge-process.ts', import.meta.url);
  // Profiles of the edge: EDGE_EXEC_ARGV='--cpu-prof --cpu-prof-dir=/tmp/prof'.
  const flags = (process.env['EDGE_EXEC_ARGV'] ?? '').split(' ').filter(Boolean);
  const processes: BenchProcess[] = [];
  for (const port of ports)
    processes.push(await startBenchProcess(script, { address: store.address, port }, flags));
  const tool = await startBenchProcess(new URL('./load-process.ts', import.meta.url), {
    ...load,
    ports,
  } satisfies LoadSettings);
  try {
    await tool.ask({ seconds: 3 });
    const cpuOfEdges = async (): Promise<number> => {
      let sum = 0;
      for (const edge of processes) {
        const { cpu } = await edge.ask<{ cpu: NodeJS.CpuUsage }>('usage');
        sum += (cpu.user + cpu.system) / 1e6;
      }
      return sum;
    };
    const [edgeBefore, storeBefore] = [await cpuOfEdges(), store.cpuSeconds()];
    const result = await tool.ask<LoadResult>({ seconds });
    const [edgeAfter, storeAfter] = [await cpuOfEdges(), store.cpuSeconds()];
    const per = (used: number) => ((used / result.events) * 1e6).toFixed(2);
    const storeCpu =
      storeBefore === null || storeAfter === null ? 'elsewhere' : per(storeAfter - storeBefore);
    return {
      ...result,
      eventsPerSecond: result.events / result.seconds,
      cpu: `CPU s/M: edge ${per(edgeAfter - edgeBefore)}, log ${storeCpu}, load tool ${per(result.cpuSeconds)}`,
    };
  } finally {
    await tool.stop();
    for (const edge of processes) await edge.stop();
  }
}
