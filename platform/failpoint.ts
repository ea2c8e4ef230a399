import { writeSync } from 'node:fs';

/**
 * Named places at which a fault test may kill the process. In production the set is empty and a call costs
 * one lookup in it. `FAILPOINTS=stream.after_index:0.01` kills with that probability; without a number it
 * kills at the first call.
 */
const armed = new Map<string, number>();

export function armFailpoints(list: string): void {
  for (const entry of list.split(',').filter((text) => text !== '')) {
    const [name, probability] = entry.split(':');
    armed.set(name!, probability === undefined ? 1 : Number(probability));
  }
}

export function failpoint(name: string): void {
  if (armed.size === 0) return;
  const probability = armed.get(name) ?? armed.get('*');
  if (probability !== undefined && Math.random() < probability)
    process.kill(process.pid, 'SIGKILL');
}
