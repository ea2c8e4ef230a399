import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault, FaultWorld } from './fault.ts';

const DIRECTORIES = ['/usr/lib', '/usr/local/lib', '/usr/lib64'];
const MS = [1_000, 8_000] as const;
const JUMPS = ['-3600', '-120', '-5', '+5', '+120', '+3600'] as const;

/** The preloaded library that changes the time of a process; null if it is not installed. */
export function faketimeLibrary(): string | null {
  for (const directory of DIRECTORIES.filter((each) => existsSync(each)))
    for (const place of [directory, ...subdirectories(directory)]) {
      const file = join(place, 'faketime', 'libfaketime.so.1');
      if (existsSync(file)) return file;
    }
  return null;
}

const subdirectories = (directory: string): string[] =>
  readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(directory, entry.name));

/** The environment with which a role reads its clock through the file. Monotonic clocks stay as they are. */
export function clockEnvironment(library: string, clockFile: string): Record<string, string> {
  writeFileSync(clockFile, '+0');
  return {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: clockFile,
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
}

/** The clocks of all roles jump, and jump back; never the machine's clock. */
export const clock = ({ clockFile, random }: FaultWorld): Fault => ({
  name: 'clock',
  weight: 1,
  async strike() {
    const jump = random.pick(JUMPS);
    writeFileSync(clockFile!, jump);
    await sleep(random.integer(...MS));
    writeFileSync(clockFile!, '+0');
    return { what: `${jump} s`, ended: [] };
  },
});
