import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Engine } from '../../main/instance.ts';
import { startFaultProxy, type AimedProxy } from './fault-proxy.ts';
import type { InstanceMessage, InstanceSettings } from './instance-process.ts';

const SCRIPT = fileURLToPath(new URL('./instance-process.js', import.meta.url));
/** Roles of a killed supervisor drain before their port is free. */
const START_MS_MAX = 300_000;
const RETRY_MS = 500;
const DRAIN_MS_MAX = 15_000;

/** Where a proxy is placed: before an engine, before a broker, and between the senders of events and the API. */
export type Proxies = Readonly<Record<Engine | 'api', AimedProxy>> &
  Readonly<Record<string, AimedProxy>>;

/** The process tree under test: supervisor, engines and roles, with a proxy before each engine. */
export class Tree {
  readonly proxies: Proxies;
  readonly #settings: InstanceSettings;
  readonly #say: (text: string) => void;
  #child: ChildProcess | null = null;
  #pids: Readonly<Record<string, number>> = {};
  #apiKey = '';
  #clickhouseUrl = '';

  private constructor(
    proxies: Tree['proxies'],
    settings: InstanceSettings,
    say: (text: string) => void,
  ) {
    this.proxies = proxies;
    this.#settings = settings;
    this.#say = say;
  }

  /** `others` are the proxies before brokers, by their names. */
  static async start(
    settings: Omit<InstanceSettings, 'proxies'>,
    others: Readonly<Record<string, AimedProxy>>,
    say: (text: string) => void,
  ): Promise<Tree> {
    // Each is aimed when its server has a port.
    const target = { host: '127.0.0.1', port: 1 };
    const proxies = {
      ...others,
      postgres: await startFaultProxy(target),
      clickhouse: await startFaultProxy(target),
      api: await startFaultProxy(target),
    };
    const ports = { postgres: proxies.postgres.port, clickhouse: proxies.clickhouse.port };
    const tree = new Tree(proxies, { ...settings, proxies: ports }, say);
    await tree.#launch();
    return tree;
  }

  /** Through the proxy. */
  get baseUrl(): string {
    return `http://127.0.0.1:${this.proxies.api.port}`;
  }
  get apiKey(): string {
    return this.#apiKey;
  }
  /** Through the proxy, so that it is the same for the whole run. */
  get clickhouseUrl(): string {
    return this.#clickhouseUrl;
  }

  /** Process ids of engines and roles, as last reported by the supervisor. */
  pids(): Readonly<Record<string, number>> {
    return this.#pids;
  }

  /**
   * Kills the supervisor without warning and starts another on the same data; repeats until it is ready.
   * `between` runs after the kill and before the first start.
   */
  async replaceSupervisor(between: () => void = () => {}): Promise<void> {
    const child = this.#child!;
    // Postgres stays: the next start ends it.
    const { postgres: _, ...orphans } = this.#pids;
    child.kill('SIGKILL');
    await ended(child);
    between();
    const deadline = performance.now() + START_MS_MAX;
    for (;;) {
      try {
        return await this.#launch();
      } catch (error) {
        if (performance.now() > deadline) throw error;
        this.#say(`  not started again yet: ${(error as Error).message}`);
        await sleep(RETRY_MS);
        // A start takes the cores from the processes that drain, and is refused until they have ended.
        await untilEnded(Object.values(orphans), performance.now() + DRAIN_MS_MAX);
      }
    }
  }

  async stop(): Promise<void> {
    const child = this.#child!;
    child.send('stop');
    await ended(child);
    for (const proxy of Object.values(this.proxies)) await proxy.close();
  }

  async #launch(): Promise<void> {
    const child = fork(SCRIPT, [JSON.stringify(this.#settings)], {
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    });
    let complaint = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-2_000);
    });
    await new Promise<void>((resolve, reject) => {
      child.on('message', (message: InstanceMessage) => {
        switch (message.kind) {
          case 'engine':
            return this.proxies[message.engine].aim(message.port);
          case 'pids':
            this.#pids = message.pids;
            return;
          case 'ready':
            this.proxies.api.aim(Number(new URL(message.baseUrl).port));
            this.#apiKey = message.apiKey ?? this.#apiKey;
            this.#clickhouseUrl = message.clickhouseUrl;
            return resolve();
          default:
            return message satisfies never;
        }
      });
      child.once('exit', (code) => {
        const [reason = ''] = /^.*Error: .*$/m.exec(complaint) ?? [complaint.trim()];
        reject(new Error(`the supervisor ended with ${code}: ${reason}`));
      });
    });
    this.#child = child;
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

async function untilEnded(pids: readonly number[], deadline: number): Promise<void> {
  while (pids.some(isAlive) && performance.now() < deadline) await sleep(50);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
