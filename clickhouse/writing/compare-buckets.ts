import type { StoredBucketSize } from '../rows.ts';
import type { BucketDifference } from './usage-store.ts';

/** A bucket row: the bucket's key, dimensions and source, then its figures. */
export type BucketCells = readonly [
  tenantId: string,
  environmentId: string,
  externalCustomerId: string,
  meterVersionId: string,
  bucketStart: string,
  dimensions: readonly string[],
  source: string,
  ...figures: unknown[],
];

const KEY_CELLS = 7;

/** Rows that exist on one side only, or with different figures. */
export function differencesOf(
  size: StoredBucketSize,
  stored: readonly BucketCells[],
  computed: readonly BucketCells[],
): BucketDifference[] {
  const storedFigures = figuresByKey(stored);
  const computedFigures = figuresByKey(computed);
  const keys = new Set([...storedFigures.keys(), ...computedFigures.keys()]);
  return [...keys].flatMap((key) => {
    const difference = {
      bucket_size: size,
      row: JSON.parse(key) as string[],
      stored: storedFigures.get(key) ?? null,
      computed: computedFigures.get(key) ?? null,
    };
    return difference.stored === difference.computed ? [] : [difference];
  });
}

function figuresByKey(rows: readonly BucketCells[]): Map<string, string> {
  return new Map(
    rows.map((cells) => [
      JSON.stringify(cells.slice(0, KEY_CELLS)),
      JSON.stringify(cells.slice(KEY_CELLS)),
    ]),
  );
}
