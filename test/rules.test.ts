import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

const FOLDERS = [
  'schemas', 'domain', 'platform', 'postgres', 'clickhouse', 'ingest', 'stream', 'api', 'jobs', 'main',
  'bench', 'test', 'docs',
]; // prettier-ignore

/**
 * `billing 2.4` or `tenancy S24`: a page of docs/rules and a rule of it; also the further ones of `billing 2.4, 4.5`.
 */
const CITATION =
  /\b(api|billing|money|metering|tenancy)(?:\s+(?:\*\s+|\/\/\s+|--\s+)?)(S?\d+(?:\.\d+)*(?:,? (?:and )?\d+\.\d+(?:\.\d+)?)*)/g;

const anchorsOf = (page: string): Set<string> =>
  new Set(
    [
      ...readFileSync(join(root, `docs/rules/${page}.md`), 'utf8').matchAll(/<a id="([^"]+)">/g),
    ].map(([, anchor]) => anchor!),
  );

/** Every `file: page rule` that cites a rule. */
function citations(): { file: string; page: string; rule: string }[] {
  const found: { file: string; page: string; rule: string }[] = [];
  for (const folder of FOLDERS) {
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      const file = join(folder, name);
      if (!/\.(ts|md|sql)$/.test(file) || file.startsWith('docs/rules/')) continue;
      for (const [, page, rules] of readFileSync(join(root, file), 'utf8').matchAll(CITATION))
        for (const rule of rules!.split(/,? and |, /)) found.push({ file, page: page!, rule });
    }
  }
  return found;
}

test('every cited rule is in docs/rules', () => {
  const anchors = new Map(
    ['api', 'billing', 'money', 'metering', 'tenancy'].map((page) => [page, anchorsOf(page)]),
  );
  const cited = citations();
  expect(cited.length).toBeGreaterThan(500);
  expect(cited.filter(({ page, rule }) => !anchors.get(page)!.has(rule))).toEqual([]);
});

/** Pages that are not part of this repository; a reader cannot open them. Applied migrations never change. */
const ELSEWHERE =
  /\b(?:(?:billing-semantics|money-semantics|reliability|style|rulings)\.md|(?:reliability|rulings?),?\s+(?:\*\s+|\/\/\s+)?S?\d|recorded of the reference)/;

test('no comment cites a page that is not in this repository', () => {
  const citing = FOLDERS.filter((folder) => folder !== 'test').flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((file) => /\.(ts|tsx|md|json)$/.test(file))
      .filter((file) => ELSEWHERE.test(readFileSync(join(root, file), 'utf8'))),
  );
  expect(citing).toEqual([]);
});

describe.each(['api', 'billing', 'money', 'metering', 'tenancy'])('docs/rules/%s.md', (page) => {
  test('its rules are in order', () => {
    const rules = [...anchorsOf(page)];
    const inOrder = rules.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));
    expect(rules).toEqual(inOrder);
  });

  test('each sentence before an example ends with a mark', () => {
    const text = readFileSync(join(root, `docs/rules/${page}.md`), 'utf8');
    expect(text.match(/.{0,40}[^.:?!>\s]\s+\*Example:\*/g) ?? []).toEqual([]);
  });
});
