import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApiClient, type ApiClient } from '../../main/demo/api-client.ts';
import { startInstance, type Instance, type InstanceOptions } from '../../main/instance.ts';
import { readConfig } from '../../platform/config.ts';
import { createLogger } from '../../platform/log.ts';
import { startBenchProcess, type BenchProcess } from '../processes.ts';
import type { LoadSettings } from './load-process.ts';

/** The whole product as `npm start` runs it, in a directory that is removed at the end. */
export interface Product extends Instance {
  readonly api: ApiClient;
  createMeters(eventNames: readonly string[]): Promise<string[]>;
  startLoad(
    load: Pick<LoadSettings, 'eventsPerSecond' | 'seconds' | 'eventNames'> &
      Partial<Pick<LoadSettings, 'customerPrefix' | 'spreadMs'>>,
  ): Promise<BenchProcess>;
  /** Copies of events that the stream has made visible so far. */
  visibleEvents(): Promise<number>;
  /** Buckets of usage that the stream has sealed so far. */
  sealedBuckets(): Promise<number>;
  close(): Promise<void>;
}

export async function startProduct(options: Pick<InstanceOptions, 'roles'> = {}): Promise<Product> {
  const directory = mkdtempSync(join(tmpdir(), 'meterline-bench-'));
  // All requests of a bench have one key. The processes of the roles read the environment themselves.
  process.env['API_REQUESTS_PER_SECOND'] ??= '0';
  const config = readConfig({
    ...process.env,
    LOG_LEVEL: 'error',
    DATA_DIR: join(directory, 'data'),
    PORT: '0',
    POSTGRES_URL: undefined,
    CLICKHOUSE_URL: undefined,
  });
  const instance = await startInstance({
    ...options,
    config,
    log: createLogger(config.LOG_LEVEL, 'bench'),
  });
  const api = createApiClient(instance.baseUrl, instance.apiKey!);
  let loads = 0;
  /** A counter of the stream, over all its labels. */
  const counted = async (metric: string): Promise<number> => {
    const url = `http://127.0.0.1:${instance.operationsPorts.stream}/metrics`;
    const text = await (await fetch(url)).text();
    const counts = text.matchAll(new RegExp(`^${metric}\\{[^}]*\\} (\\d+)`, 'gm'));
    return [...counts].reduce((sum, match) => sum + Number(match[1]), 0);
  };
  return {
    ...instance,
    api,
    async createMeters(eventNames) {
      const specs = [
        { type: 'COUNT' },
        { type: 'SUM', field: 'tokens' },
        { type: 'MAX', field: 'tokens' },
      ];
      const ids: string[] = [];
      for (const [index, aggregation] of specs.entries()) {
        const meter = await api.post<{ id: string }>('/meters', {
          name: `Bench ${aggregation.type}`,
          event_name: eventNames[index % eventNames.length],
          aggregation,
          filters: [],
          reset_usage: 'BILLING_PERIOD',
        });
        ids.push(meter.id);
      }
      return ids;
    },
    startLoad(load) {
      loads += 1;
      const settings: LoadSettings = {
        customerPrefix: 'customer-',
        spreadMs: 0,
        ...load,
        port: Number(new URL(instance.baseUrl).port),
        apiKey: instance.apiKey!,
        run: `load-${String(loads).padStart(3, '0')}`,
      };
      return startBenchProcess(new URL('./load-process.ts', import.meta.url), settings);
    },
    visibleEvents: () => counted('meterline_stream_events_total'),
    sealedBuckets: () => counted('meterline_sealed_buckets_total'),
    async close() {
      await instance.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
