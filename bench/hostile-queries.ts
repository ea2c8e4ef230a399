import type { BenchRow } from './bench-row.ts';
export async function run(): Promise<BenchRow[]> {
  return [];
}
