import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * `node scripts/client-words.js DIRECTORY`: writes `domain/client-words.ts`, the names of keys that
 * existing clients may send, from the published contract below DIRECTORY: `contract/shapes.json`,
 * `contract/client-models.json` and the recorded requests of `flows/recorded`.
 */
export function clientWords(directory) {
  const read = (...path) => JSON.parse(readFileSync(join(directory, ...path), 'utf8'));
  const words = new Set();
  const add = (name) => {
    const word = name.replace(/!$/, '');
    if (/^[a-z][a-z0-9_]{4,49}$/.test(word)) words.add(word);
  };
  const addKeys = (value) => {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) return value.forEach(addKeys);
    for (const [key, inner] of Object.entries(value)) {
      add(key);
      // Keys of these are the customers' own words.
      if (key !== 'properties' && key !== 'metadata') addKeys(inner);
    }
  };
  const { schemas } = read('contract', 'shapes.json');
  for (const schema of Object.values(schemas)) addKeys(schema);
  for (const model of Object.values(read('contract', 'client-models.json').models)) addKeys(model);
  for (const file of readdirSync(join(directory, 'flows', 'recorded'))) {
    if (!file.endsWith('.json')) continue;
    for (const { body } of read('flows', 'recorded', file).steps) addKeys(body);
  }
  return [...words].sort();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const words = clientWords(process.argv[2]);
  const lines = words.reduce(
    (all, word) => {
      const last = all.at(-1);
      if (last.length + word.length > 96) all.push(`  ${word}`);
      else all[all.length - 1] = last.trim() === '' ? `  ${word}` : `${last} ${word}`;
      return all;
    },
    ['  '],
  );
  writeFileSync(
    'domain/client-words.ts',
    `/**
 * Names of keys that existing clients may send and that a request may not know: they are ignored, and
 * never taken for a misspelling. Written by \`node scripts/client-words.js\`; not to be changed by hand.
 */
export const CLIENT_WORDS: ReadonlySet<string> = new Set(
  \`
${lines.join('\n')}
\`
    .trim()
    .split(/\\s+/),
);
`,
  );
}
