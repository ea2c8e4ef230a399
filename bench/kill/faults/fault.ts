import type { Random } from '../../random.ts';
import type { Tree } from '../tree.ts';

/** Something that goes wrong under load. One file per kind. */
export interface Fault {
  readonly name: string;
  /** How often it is chosen, relative to the others. */
  readonly weight: number;
  /** Happens, and is over when the promise resolves. */
  strike(): Promise<Hit>;
}

export interface Hit {
  /** For the table at the end: the process, or the fault in more words. */
  readonly what: string;
  /** Names of the processes that the fault ended. */
  readonly ended: readonly string[];
}

export interface FaultWorld {
  readonly tree: Tree;
  readonly random: Random;
  readonly dataDirectory: string;
  /** The file with the offset of the roles' clocks; null if that fault is not chosen. */
  readonly clockFile: string | null;
}
