import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ALL_GROUPS, type Difference, type DifferenceKind } from './compare.ts';

/**
 * Intended differences, by kind and name (`*` matches anything), each with its rule: a page and
 * its section, or "not offered yet".
 */
export type MeantDifferences = Readonly<Record<DifferenceKind, Readonly<Record<string, string>>>>;

const FILE = fileURLToPath(new URL('../../../docs/contract-differences.json', import.meta.url));
export const readMeant = (): MeantDifferences =>
  JSON.parse(readFileSync(FILE, 'utf8')) as MeantDifferences;

export interface DriftReport {
  readonly text: string;
  /** Differences that nothing allows. */
  readonly unlisted: readonly Difference[];
  /** Entries of the list that allow nothing: the product has it, or the reference does not. */
  readonly stale: readonly string[];
}

const KINDS: readonly [DifferenceKind, string][] = [
  ['route', 'routes missing'],
  ['key', 'keys missing'],
  ['status', 'statuses different'],
  ['field', 'request fields missing'],
];

/** A table of groups and kinds, as `listed+unlisted`, each unlisted one by name, and one line in sum. */
export function report(differences: readonly Difference[], meant: MeantDifferences): DriftReport {
  const isListed = ({ kind, name }: Difference): boolean =>
    Object.keys(meant[kind]).some((pattern) => matches(pattern, name));
  const unlisted = differences.filter((difference) => !isListed(difference));
  const stale = KINDS.flatMap(([kind]) =>
    Object.keys(meant[kind])
      .filter(
        (pattern) =>
          !differences.some((found) => found.kind === kind && matches(pattern, found.name)),
      )
      .map((pattern) => `${kind}: ${pattern}`),
  );
  const rows = ALL_GROUPS.map((group) => [
    group,
    ...KINDS.map(([kind]) => {
      const mine = differences.filter(
        (difference) => difference.group === group && difference.kind === kind,
      );
      const open = mine.filter((difference) => !isListed(difference)).length;
      return `${mine.length - open}+${open}`;
    }),
  ]);
  const notOffered = differences.filter(
    ({ kind, name }) =>
      kind === 'route' &&
      Object.entries(meant.route).some(
        ([pattern, rule]) => matches(pattern, name) && rule === 'not offered yet',
      ),
  ).length;
  const lines = unlisted.map(
    ({ kind, name, detail }) => `${kind}: ${name}${detail === '' ? '' : ` (${detail})`}`,
  );
  const listed = differences.filter(isListed).length;
  const text = [
    'differences from the reference, meant + not listed:',
    ...aligned([['group', ...KINDS.map(([, title]) => title)], ...rows]),
    `routes not offered yet: ${notOffered}`,
    ...lines,
    ...stale.map((entry) => `stale ${entry}`),
    `contract: ${listed} meant, ${unlisted.length} not listed, ${stale.length} stale entries`,
  ].join('\n');
  return { text, unlisted, stale };
}

function matches(pattern: string, name: string): boolean {
  const escaped = pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/\*/g, '.*');
  return new RegExp(`^${escaped}$`).test(name);
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
      )
      .join('  '),
  );
}
