import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { startFaultProxy, type AimedProxy } from '../fault-proxy.ts';

export interface Brokers {
  /** host:port of the proxies, comma-separated. */
  readonly brokers: string;
  /** By name: one before each started broker; none for brokers that were given. */
  readonly proxies: Readonly<Record<string, AimedProxy>>;
  /** Null for brokers that were given, and without a broker fault. */
  readonly plan: BrokerPlan | null;
  stop(): void;
}

/** Below the ports that the system gives to outgoing connections. */
const PORTS = [15_000, 25_000] as const;
/** The script uses the 300 ports after the first broker's for other listeners. */
const PROXIES_FROM = 300;

interface BrokerOptions {
  /** The script that starts and stops brokers, used when KAFKA_BROKERS is unset. */
  readonly tool: string;
  readonly brokers: number;
  readonly faults: readonly string[];
  readonly directory: string;
  readonly say: (text: string) => void;
}

/** Uses the brokers of the environment, or starts new ones behind proxies. */
export async function startKafka({
  tool,
  brokers,
  faults,
  directory,
  say,
}: BrokerOptions): Promise<Brokers> {
  const given = process.env['KAFKA_BROKERS'];
  if (given !== undefined && given !== '')
    return { brokers: given, proxies: {}, plan: null, stop: () => {} };
  const place = ['--dir', join(directory, 'kafka')];
  const { port, proxies } = await proxiesFor(brokers);
  const advertised = Object.values(proxies)[0]!.port;
  const start = ['start', '--brokers', String(brokers), '--port', String(port), ...place];
  start.push('--advertise', String(advertised));
  const output = execFileSync(tool, start, { encoding: 'utf8' });
  const list = /^KAFKA_BROKERS=(.*)$/m.exec(output)?.[1];
  if (list === undefined) throw new Error(`${tool} printed no KAFKA_BROKERS`);
  const isLost = faults.includes('broker-lost');
  const isPlanned = isLost || faults.includes('broker');
  if (isPlanned && brokers < 3) say('skipped: fault broker: it needs --brokers 3');
  return {
    brokers: list,
    proxies,
    plan: isPlanned && brokers >= 3 ? new BrokerPlan(tool, place, say, isLost) : null,
    stop: () => void execFileSync(tool, ['stop', ...place]),
  };
}

/** Proxies on consecutive ports, as the script expects them, before consecutive ports of brokers. */
async function proxiesFor(
  brokers: number,
): Promise<{ readonly port: number; readonly proxies: Record<string, AimedProxy> }> {
  for (;;) {
    const port = randomInt(...PORTS);
    const proxies: Record<string, AimedProxy> = {};
    try {
      for (let index = 0; index < brokers; index += 1)
        proxies[`broker ${index + 1}`] = await startFaultProxy(
          { host: '127.0.0.1', port: port + index },
          port + PROXIES_FROM + index,
        );
      return { port, proxies };
    } catch (error) {
      for (const proxy of Object.values(proxies)) await proxy.close();
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}

/** The share of the run after which a broker is killed. */
const KILLED_AT = 1 / 3;

/** One of three brokers is killed after a third of the run; after two thirds it is back, unless lost for good. */
export class BrokerPlan {
  #state: 'up' | 'down' | 'back' = 'up';
  readonly #tool: string;
  readonly #place: string[];
  readonly #say: (text: string) => void;
  readonly #isLost: boolean;

  constructor(tool: string, place: string[], say: (text: string) => void, isLost: boolean) {
    this.#tool = tool;
    this.#place = place;
    this.#say = say;
    this.#isLost = isLost;
  }

  /** The share of the run until which the log can be resized: new epochs need all brokers. */
  get resizesUntil(): number {
    return this.#isLost ? KILLED_AT : 1;
  }

  /** Whether the next step kills a broker for good: then no work may be in progress that needs all of them. */
  losesAt(progress: number): boolean {
    return this.#isLost && this.#state === 'up' && progress >= KILLED_AT;
  }

  /** Called with the completed share of the run, 0 to 1. */
  step(progress: number): void {
    if (this.#state === 'up' && progress >= KILLED_AT) {
      execFileSync(this.#tool, ['stop-broker', '2', ...this.#place]);
      this.#state = 'down';
      this.#say(`broker 2 killed${this.#isLost ? ', for good' : ''}`);
    } else if (this.#state === 'down' && progress >= 2 / 3 && !this.#isLost) {
      execFileSync(this.#tool, ['start-broker', '2', ...this.#place], { stdio: 'ignore' });
      this.#state = 'back';
      this.#say('broker 2 is back');
    }
  }
}
