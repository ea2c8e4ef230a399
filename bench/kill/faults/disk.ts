import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault, FaultWorld } from './fault.ts';

const SIZE_MB = 2_048;
const MS = [500, 5_000] as const;
const PIECE = Buffer.alloc(1024 * 1024);

/** A small file system in memory for the data, so that only this run sees a full disk. Needs root. */
export function mountSmallDisk(directory: string): { unmount(): void } {
  mkdirSync(directory, { recursive: true });
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_MB}m,mode=755`, 'tmpfs', directory]);
  return { unmount: () => void execFileSync('umount', ['--lazy', directory]) };
}

/** Why there can be no full disk here; null if there can. */
export const diskMissing = (): string | null =>
  process.getuid?.() === 0 ? null : 'it needs root, to mount a small file system';

/** Fills the disk of the data to the last byte, and frees it again. */
export const disk = ({ dataDirectory, random }: FaultWorld): Fault => ({
  name: 'disk',
  weight: 1,
  async strike() {
    const filler = join(dataDirectory, '..', 'filler');
    fill(filler);
    const deadline = performance.now() + random.integer(...MS);
    // Space that the engines free is filled again.
    while (performance.now() < deadline) {
      await sleep(100);
      fill(filler);
    }
    rmSync(filler, { force: true });
    return { what: 'disk', ended: [] };
  },
});

function fill(filler: string): void {
  const file = openSync(filler, 'a');
  try {
    const { bavail, bsize } = statfsSync(filler);
    for (let left = bavail * bsize; left > 0;)
      left -= writeSync(file, PIECE, 0, Math.min(left, PIECE.length));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
}
