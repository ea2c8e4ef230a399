import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import ts from 'typescript';
import type { z } from 'zod';
import { API_ROUTES } from '../../api/routes.ts';
import { SETTINGS } from '../../schemas/settings/settings.ts';
import { schemasWithin } from '../support/schemas.ts';

interface Found {
  readonly where: string;
  readonly source: string;
  readonly flags: string;
}

const files = execFileSync('git', [
  'ls-files',
  '--cached',
  '--others',
  '--exclude-standard',
  '*.ts',
])
  .toString()
  .split('\n')
  .filter((name) => name !== '' && !/^(test|bench)\//.test(name));

/** Every literal of a regular expression in the file, and every one that is made at run time. */
function patternsOf(file: string): { literals: Found[]; made: string[] } {
  const source = ts.createSourceFile(
    file,
    readFileSync(file, 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  );
  const literals: Found[] = [];
  const made: string[] = [];
  const visit = (node: ts.Node): void => {
    const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    if (ts.isRegularExpressionLiteral(node)) {
      const [, pattern, flags] = /^\/(.*)\/([a-z]*)$/s.exec(node.text)!;
      literals.push({ where: `${file}:${line}`, source: pattern!, flags: flags! });
    }
    const isMade = ts.isNewExpression(node) || ts.isCallExpression(node);
    if (isMade && node.expression.getText() === 'RegExp') made.push(`${file}:${line}`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { literals, made };
}

/** Patterns that the schemas of requests take from their library: addresses, times, URLs. */
function patternsOfSchemas(): Found[] {
  const seen = new Set<z.ZodType>();
  const roots: [string, z.ZodType | undefined][] = [
    ...API_ROUTES.flatMap(({ method, path, params, query, body }) =>
      [params, query, body].map((schema): [string, typeof schema] => [`${method} ${path}`, schema]),
    ),
    ...Object.entries(SETTINGS).map(([key, { schema }]): [string, z.ZodType] => [key, schema]),
  ];
  return roots
    .flatMap(([name, root]) => (root === undefined ? [] : [...schemasWithin(root, name, seen)]))
    .flatMap(({ path, schema }) =>
      [schema, ...(schema._zod.def.checks ?? [])].flatMap((check) => {
        const { pattern } = check._zod.def as { pattern?: RegExp };
        return pattern instanceof RegExp
          ? [{ where: path, source: pattern.source, flags: pattern.flags }]
          : [];
      }),
    );
}

// Its other backends are a native program and a virtual machine.
process.env['RECHECK_BACKEND'] = 'pure';
const { checkSync } = await import('recheck');

/** `DEEP=1` checks every pattern again and writes the list of those that are known to be linear. */
const DEEP = process.env['DEEP'] === '1';
const KNOWN_FILE = 'test/security/linear-patterns.json';
const known = new Set(DEEP ? [] : (JSON.parse(readFileSync(KNOWN_FILE, 'utf8')) as string[]));

/** What the checker does not decide within its time, and why it is linear. */
const DECIDED: Readonly<Record<string, string>> = {
  '/-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\\s]+)-----END CERTIFICATE-----/g':
    'the run has no hyphen, with which the next attempt would begin',
  '/^\\w*event_loop_block\\w*_total\\{([^}\\n]*)\\} (\\d+)/gm': 'reads our own page of metrics',
};

/** Where a pattern may take more steps than its text is long: by backtracking, or by starting again at every place. */
function slow({ where, source, flags }: Found): string[] {
  const pattern = `/${source}/${flags}`;
  if (known.has(pattern) || Object.hasOwn(DECIDED, pattern)) return [];
  const found = checkSync(source, flags, { checker: 'auto', timeout: 60_000 });
  if (found.status === 'safe') known.add(pattern);
  if (found.status === 'safe') return [];
  const what = found.status === 'vulnerable' ? found.complexity.summary : found.status;
  return [`${where}: ${pattern} is ${what}`];
}

/** Reliability, S15. Scanners that are written by hand are in `growth.test.ts`. */
describe('patterns cost what their text is long', () => {
  const found = files.map(patternsOf);
  const literals = found.flatMap((file) => file.literals);
  afterAll(() => {
    if (DEEP) writeFileSync(KNOWN_FILE, `${JSON.stringify([...known].sort(), null, 2)}\n`);
  });

  test.each([
    ['(a+)+$', 'exponential'],
    ['^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$', 'two runs that share letters'],
    ['^[A-Za-z0-9+/\\s]+=*\\s*$', 'white space in either run'],
    ['0+$', 'tried at every place'],
    ['"(?:[^"\\\\]|\\\\.)*"', 'tried at every quote'],
  ])('the checker knows a slow one: %s', (source) => {
    expect(slow({ where: '', source, flags: '' })).not.toEqual([]);
  });

  test('every literal of the product', () => {
    expect(literals.length).toBeGreaterThan(100);
    expect(literals.flatMap(slow)).toEqual([]);
    process.stdout.write(`patterns: ${literals.length} literals, none slow\n`);
  });

  test('none is made at run time: write a literal, which can be checked', () => {
    expect(found.flatMap((file) => file.made)).toEqual([]);
  });

  test('those that schemas take from their library', () => {
    const patterns = patternsOfSchemas();
    expect(patterns.length).toBeGreaterThan(4);
    expect(patterns.flatMap(slow)).toEqual([]);
  });
});
