import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
  readonly isDynamicEntry?: boolean;
  readonly src?: string;
}

/** Forms and charts are loaded with the first page that has one; with forms the console would have 239 kB. */
const FIRST_LOAD_BYTES = 205_000;
const PAGE_BYTES = 100_000;

/** What a browser downloads, compressed: the first load of each entry, and what a page adds to it. */
describe('the weight of the pages', () => {
  let chunks: Readonly<Record<string, Chunk>>;
  beforeAll(() => {
    execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'pipe' });
    chunks = JSON.parse(readFileSync('dist/web/.vite/manifest.json', 'utf8'));
  });

  const filesOf = (name: string, seen = new Set<string>()): Set<string> => {
    const { file, imports = [], css = [] } = chunks[name]!;
    if (seen.has(file)) return seen;
    for (const own of [file, ...css]) seen.add(own);
    for (const imported of imports) filesOf(imported, seen);
    return seen;
  };
  const bytesOf = (files: Iterable<string>): number =>
    [...files].reduce((sum, file) => sum + gzipSync(readFileSync(`dist/web/${file}`)).length, 0);

  test.each(['console', 'portal', 'checkout'])(`%s: at most 205 kB at first`, (entry) => {
    const bytes = bytesOf(filesOf(`${entry}/index.html`));
    process.stdout.write(`${entry}: ${bytes} bytes at first\n`);
    expect(bytes).toBeLessThan(FIRST_LOAD_BYTES);
  });

  test('every page of the console adds at most 100 kB', () => {
    const first = filesOf('console/index.html');
    const pages = Object.entries(chunks).filter(([, chunk]) => chunk.isDynamicEntry === true);
    expect(pages.length).toBeGreaterThan(0);
    const heavy = pages
      .map(([name]) => ({ name, bytes: bytesOf([...filesOf(name)].filter((f) => !first.has(f))) }))
      .filter(({ bytes }) => bytes > PAGE_BYTES);
    expect(heavy).toEqual([]);
  });
});
