import { startInstance, type Engine } from '../../main/instance.ts';
import { readConfig } from '../../platform/config.ts';
import { createLogger } from '../../platform/log.ts';

/** The supervisor of a run as a process of its own: everything that `npm start` runs, behind proxies. */
export interface InstanceSettings {
  readonly environment: Readonly<Record<string, string>>;
  /** Added to the environment of the roles only. */
  readonly roleEnvironment: Readonly<Record<string, string>>;
  /** The ports under which the roles find the engines. */
  readonly proxies: Readonly<Record<Engine, number>>;
}
export type InstanceMessage =
  | { readonly kind: 'engine'; readonly engine: Engine; readonly port: number }
  | {
      readonly kind: 'ready';
      readonly baseUrl: string;
      readonly apiKey: string | null;
      readonly clickhouseUrl: string;
    }
  | { readonly kind: 'pids'; readonly pids: Readonly<Record<string, number>> };

const PIDS_EVERY_MS = 50;

const settings = JSON.parse(process.argv[2]!) as InstanceSettings;
const tell = (message: InstanceMessage): void => void process.send?.(message);
const config = readConfig({
  ...process.env,
  ...settings.environment,
  POSTGRES_URL: undefined,
  CLICKHOUSE_URL: undefined,
});
const instance = await startInstance({
  config,
  log: createLogger(config.LOG_LEVEL, 'kill'),
  env: { ...settings.roleEnvironment },
  through(engine, url) {
    const address = new URL(url);
    tell({ kind: 'engine', engine, port: Number(address.port) });
    address.port = String(settings.proxies[engine]);
    return address.toString();
  },
});
const { baseUrl, apiKey, clickhouseUrl } = instance;
let told = '';
const tellPids = (): void => {
  const pids = instance.pids();
  if (JSON.stringify(pids) === told) return;
  told = JSON.stringify(pids);
  tell({ kind: 'pids', pids });
};
tellPids();
setInterval(tellPids, PIDS_EVERY_MS).unref();
tell({ kind: 'ready', baseUrl, apiKey, clickhouseUrl });

const stop = async (): Promise<void> => {
  await instance.stop();
  process.exit(0);
};
process.once('message', () => void stop());
process.once('disconnect', () => void stop());
