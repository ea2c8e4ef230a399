import { maintain } from '../maintain.ts';
import type { Comparison } from './comparison.ts';

/** Sealed buckets: each is computed again from its rows. */
export const buckets: Comparison = {
  name: 'buckets',
  async differences({ environment }) {
    const output = await maintain(environment, 'verify-buckets');
    const [, checked, differences] = /checked=(\d+) differences=(\d+)/.exec(output) ?? [];
    if (checked === undefined) return [`verify-buckets printed ${output.slice(-500)}`];
    return Number(differences) === 0
      ? []
      : output.split('\n').filter((line) => line.startsWith('{'));
  },
};
