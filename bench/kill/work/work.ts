import type { Random } from '../../random.ts';
import type { Ledger } from '../ledger.ts';
import type { Tree } from '../tree.ts';

/** What users and operators do beside the events, while faults happen. One file per kind. */
export interface Work {
  readonly name: string;
  /** How often it was done. */
  readonly done: number;
  /** Does it once. Called again and again, or at moments of the run. */
  once(): Promise<void>;
  /** After the last fault: what was begun is ended. */
  finish(): Promise<void>;
}

export interface WorkWorld {
  readonly tree: Tree;
  readonly random: Random;
  readonly ledger: Ledger;
  readonly runId: string;
  /** The settings of the product: of its data and of its log. */
  readonly environment: Readonly<Record<string, string>>;
  /** Earliest timestamp of events; they spread over 28 days from here. */
  readonly startMs: number;
}
