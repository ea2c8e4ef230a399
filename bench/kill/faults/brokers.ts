import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export interface Brokers {
  /** host:port, comma-separated. */
  readonly brokers: string;
  /** Null for brokers that were given, and without a broker fault. */
  readonly plan: BrokerPlan | null;
  stop(): void;
}

interface BrokerOptions {
  /** The script that starts and stops brokers, used when KAFKA_BROKERS is unset. */
  readonly tool: string;
  readonly brokers: number;
  readonly faults: readonly string[];
  readonly directory: string;
  readonly say: (text: string) => void;
}

/** Uses the brokers of the environment, or starts new ones. */
export function startKafka({ tool, brokers, faults, directory, say }: BrokerOptions): Brokers {
  const given = process.env['KAFKA_BROKERS'];
  if (given !== undefined && given !== '') return { brokers: given, plan: null, stop: () => {} };
  const place = ['--dir', join(directory, 'kafka')];
  const start = ['start', '--brokers', String(brokers), '--port', '19392', ...place];
  const output = execFileSync(tool, start, { encoding: 'utf8' });
  const list = /^KAFKA_BROKERS=(.*)$/m.exec(output)?.[1];
  if (list === undefined) throw new Error(`${tool} printed no KAFKA_BROKERS`);
  const isLost = faults.includes('broker-lost');
  const isPlanned = isLost || faults.includes('broker');
  if (isPlanned && brokers < 3) say('skipped: fault broker: it needs --brokers 3');
  return {
    brokers: list,
    plan: isPlanned && brokers >= 3 ? new BrokerPlan(tool, place, say, isLost) : null,
    stop: () => void execFileSync(tool, ['stop', ...place]),
  };
}

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

  /** Called with the completed share of the run, 0 to 1. */
  step(progress: number): void {
    if (this.#state === 'up' && progress >= 1 / 3) {
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
