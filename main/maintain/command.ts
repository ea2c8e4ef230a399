import type { InstanceAddresses } from '../instance-file.ts';
import type { Runtime } from '../runtime.ts';

/** Work by hand beside a running product: `npm run maintain -- NAME WORDS`. One file per command. */
export interface MaintainCommand {
  readonly name: string;
  /** The words after the name as the list shows them, for example `EMAIL`; empty if there are none. */
  readonly takes: string;
  /** What it does, in one line for the list. */
  readonly summary: string;
  /** Reads the words and says what will be done, before anything is done. Throws `Misused`. */
  plan(words: readonly string[]): string;
  run(context: MaintainContext): Promise<Outcome>;
}

export interface MaintainContext {
  readonly runtime: Runtime;
  /** The words after the command's name. */
  readonly words: readonly string[];
  /** The instance that `npm start` runs here; null if the settings of this shell say where the engines are. */
  readonly instance: InstanceAddresses | null;
  /** Prints one line of progress or of findings. */
  say(line: string): void;
}

export interface Outcome {
  /** The closing line, without the command's name. */
  readonly line: string;
  /** False: the exit code is 1. */
  readonly ok: boolean;
}

/** The words after the command are wrong; the message says what would be right. */
export class Misused extends Error {}

/** For commands that take no words. */
export function noWords(words: readonly string[]): void {
  if (words.length > 0) throw new Misused(`takes no words, but got ${words.join(' ')}`);
}
