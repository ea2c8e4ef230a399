import type { InstanceAddresses } from '../instance-file.ts';
import type { Runtime } from '../runtime.ts';

/** Manual work on a running product: `npm run maintain -- NAME WORDS`. One file per command. */
export interface MaintainCommand {
  readonly name: string;
  /** The arguments as shown in the list, for example `EMAIL`; empty if there are none. */
  readonly takes: string;
  /** One line for the list: what the command does. */
  readonly summary: string;
  /** Parses the arguments and returns what will be done, before anything is done. Throws `Misused`. */
  plan(words: readonly string[]): string;
  run(context: MaintainContext): Promise<Outcome>;
}

export interface MaintainContext {
  readonly runtime: Runtime;
  /** The arguments of the command. */
  readonly words: readonly string[];
  /** The instance that `npm start` runs here; null if the settings of this shell name the engines. */
  readonly instance: InstanceAddresses | null;
  /** Prints one line of progress or findings. */
  say(line: string): void;
}

export interface Outcome {
  /** The closing line, without the command's name. */
  readonly line: string;
  /** False sets the exit code 1. */
  readonly ok: boolean;
}

/** The arguments are wrong; the message says what would be right. */
export class Misused extends Error {}

/** Refuses arguments, for commands that take none. */
export function noWords(words: readonly string[]): void {
  if (words.length > 0) throw new Misused(`takes no words, but got ${words.join(' ')}`);
}
