import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import ts from 'typescript';

/** Habits that a formatter and a compiler cannot check. Each rule names what to do instead. */
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter((name) => /\.(ts|tsx|css|js|cjs|mjs|sql|yml|md)$/.test(name));
const read = (name: string) => readFileSync(name, 'utf8');
const sources = files.filter(
  (name) => /\.tsx?$/.test(name) && !name.startsWith('test/') && !name.startsWith('bench/'),
);

function offenders(names: readonly string[], pattern: RegExp): string[] {
  return names.flatMap((name) => {
    const lines = read(name).split('\n');
    return lines.flatMap((line, index) =>
      pattern.test(line) ? [`${name}:${index + 1}: ${line.trim()}`] : [],
    );
  });
}

/** Whether a tagged template, or a text that begins like a statement, is in the file. */
function containsSql(name: string): boolean {
  const statement = /^.\s*(select|insert into|delete from|with \w+ as|update \w+\s+set)\s/i;
  const find = (node: ts.Node): boolean => {
    if (ts.isTaggedTemplateExpression(node) && node.tag.getText() !== 'String.raw') return true;
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
    if (isText && statement.test(node.getText())) return true;
    return ts.forEachChild(node, find) ?? false;
  };
  return find(ts.createSourceFile(name, read(name), ts.ScriptTarget.Latest, true));
}

describe('tidy', () => {
  test('the tree is not empty', () => expect(sources.length).toBeGreaterThan(10));

  test('no focused or skipped tests are left behind', () => {
    const tests = files.filter((name) => name.endsWith('.test.ts') && name !== 'test/tidy.test.ts');
    expect(offenders(tests, /\b(it|test|describe)\.(only|skip)\(/)).toEqual([]);
  });

  test('no any, no ts-ignore: say the type', () => {
    expect(offenders(sources, /\bas any\b|: any\b|@ts-ignore|@ts-nocheck/)).toEqual([]);
  });

  test('no marks of unfinished work', () => {
    expect(offenders(sources, /\b(TODO|FIXME|XXX|HACK)\b/)).toEqual([]);
  });

  test('domain/ has no clock, no randomness, no floats from text', () => {
    const domain = sources.filter((name) => name.startsWith('domain/'));
    expect(offenders(domain, /new Date\(|Date\.now|Math\.random|parseFloat|process\.env/)).toEqual(
      [],
    );
  });

  test('the environment is read in platform/config.ts and main/ only', () => {
    const inner = sources.filter(
      (name) => !name.startsWith('main/') && name !== 'platform/config.ts',
    );
    expect(offenders(inner, /process\.env(?!\s*[,}])/)).toEqual([]);
  });

  test('no comment line is longer than 120 columns', () => {
    const code = files.filter((name) => /\.(ts|tsx|js|cjs|mjs)$/.test(name));
    expect(offenders(code, /^(?=\s*(?:\/\/|\/\*|\*)).{121}/)).toEqual([]);
  });

  test('every function that domain/README.md names exists', () => {
    const domain = sources
      .filter((name) => name.startsWith('domain/'))
      .map(read)
      .join('\n');
    const named = [...read('domain/README.md').matchAll(/`([a-z]+[A-Z]\w*)(?:\([^`]*\))?`/g)];
    expect(named.length).toBeGreaterThan(50);
    expect(
      named.map(([, name]) => name!).filter((name) => !new RegExp(`\\b${name}\\b`).test(domain)),
    ).toEqual([]);
  });

  test('only repositories contain SQL', () => {
    const others = sources.filter(
      (name) => /^(api|ingest)\//.test(name) && !name.endsWith('repository.ts'),
    );
    expect(others.length).toBeGreaterThan(300);
    expect(others.filter(containsSql)).toEqual([]);
  });

  test('repositories of api/ name the columns that they read (schemas/columns.ts)', () => {
    const repositories = sources.filter((name) => /^api\/.*repository\.ts$/.test(name));
    expect(repositories.length).toBeGreaterThan(60);
    const readsAll = /\bselect (\w+\.)?\*\s+from [a-z_]+\s|\breturning (\w+\.)?\*/;
    expect(repositories.filter((name) => readsAll.test(read(name)))).toEqual([]);
  });

  test('answers pick their fields (api/conventions/picked.ts), they hide no columns', () => {
    const answers = sources.filter((name) =>
      /^api\/.*(answers?|routes|repository)\.ts$/.test(name),
    );
    expect(answers.length).toBeGreaterThan(100);
    expect(offenders(answers, /: _+\w*(,|\s*\})/)).toEqual([]);
  });

  test('no console.log outside main/: use the logger', () => {
    expect(
      offenders(
        sources.filter((name) => !name.startsWith('main/')),
        /console\.log\(/,
      ),
    ).toEqual([]);
  });

  test('file names are kebab-case', () => {
    expect(sources.filter((name) => !/^[a-z0-9/.-]+$/.test(name))).toEqual([]);
  });

  test('no folder of leftovers: utils, helpers, common, misc', () => {
    expect(
      files.filter((name) => /(^|\/)(utils?|helpers?|common|misc)(\/|\.ts$)/.test(name)),
    ).toEqual([]);
  });
});
