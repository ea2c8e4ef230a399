import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));

const FOLDERS = [
  'schemas', 'domain', 'platform', 'postgres', 'clickhouse', 'ingest', 'stream', 'api', 'jobs', 'main', 'web',
]; // prettier-ignore

/** Files that put the folders below them together; nothing below imports them. */
const COMPOSING = new Set(['api/app.ts', 'api/routes.ts', 'main/maintain.ts']);

/**
 * Folders that can reach themselves through imports of their files. Each element names the folders of
 * one cycle, sorted. A file belongs to the folder that it lies in, not to the folders above.
 */
function folderCycles(imports: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const reach = (from: string): Set<string> => {
    const seen = new Set<string>();
    const waiting = [...(imports.get(from) ?? [])];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      waiting.push(...(imports.get(next) ?? []));
    }
    return seen;
  };
  const reached = new Map([...imports.keys()].map((folder) => [folder, reach(folder)]));
  const cycles = new Set<string>();
  for (const [folder, seen] of reached) {
    if (!seen.has(folder)) continue;
    const knot = [...seen].filter((other) => reached.get(other)?.has(folder));
    cycles.add(knot.sort().join(' '));
  }
  return [...cycles].sort().map((cycle) => cycle.split(' '));
}

function importsBetweenFolders(): Map<string, Set<string>> {
  const imports = new Map<string, Set<string>>();
  for (const folder of FOLDERS) {
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      const file = join(folder, name);
      if (!/\.tsx?$/.test(file) || COMPOSING.has(file)) continue;
      const from = dirname(file);
      const { importedFiles } = ts.preProcessFile(readFileSync(join(root, file), 'utf8'));
      for (const { fileName } of importedFiles) {
        if (!fileName.startsWith('.')) continue;
        const to = relative(root, dirname(resolve(root, from, fileName)));
        if (to === from) continue;
        imports.set(from, (imports.get(from) ?? new Set()).add(to));
      }
    }
  }
  return imports;
}

test('no two folders import each other, directly or through others', () => {
  const imports = importsBetweenFolders();
  expect(imports.size).toBeGreaterThan(50);
  expect(folderCycles(imports)).toEqual([]);
});

test('a cycle through three folders is found', () => {
  const imports = new Map([
    ['a', new Set(['b'])],
    ['b', new Set(['c'])],
    ['c', new Set(['a', 'd'])],
    ['d', new Set<string>()],
  ]);
  expect(folderCycles(imports)).toEqual([['a', 'b', 'c']]);
});
