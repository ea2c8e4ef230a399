import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Exported functions of `domain/` that no route and no job reaches yet, as `file name`. Each waits for
 * the part of the API that offers it. The list only shrinks: a function that is called is taken out here,
 * and a new function is called from the start.
 */
const UNCALLED: readonly string[] = JSON.parse(
  readFileSync(join(root, 'test/domain/uncalled.json'), 'utf8'),
) as string[];

/** What usage, meters and buckets are compared with in tests: a second way to the same figures. */
const ORACLES = ['domain/metering/aggregate.ts', 'domain/metering/canonical-usage.ts'];

const CALLERS = [
  'platform', 'postgres', 'clickhouse', 'ingest', 'stream', 'api', 'jobs', 'main', 'web',
]; // prettier-ignore

interface Source {
  /** Local name of an import to `file name` of what it imports from `domain/`. */
  readonly imports: Map<string, string>;
  /** Top-level declaration to the identifiers in it; '' holds the statements without a name. */
  readonly declarations: Map<string, Set<string>>;
  readonly exportedFunctions: Set<string>;
}

function filesOf(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name));
}

function read(file: string): Source {
  const text = readFileSync(join(root, file), 'utf8');
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const source: Source = {
    imports: new Map(),
    declarations: new Map(),
    exportedFunctions: new Set(),
  };
  for (const statement of tree.statements) {
    if (ts.isImportDeclaration(statement)) {
      readImport(file, statement, source.imports);
      continue;
    }
    for (const { name, isFunction } of namesOf(statement)) {
      source.declarations.set(name, identifiersIn(statement));
      if (isFunction && isExported(statement)) source.exportedFunctions.add(name);
    }
  }
  return source;
}

function readImport(file: string, statement: ts.ImportDeclaration, imports: Map<string, string>) {
  const specifier = (statement.moduleSpecifier as ts.StringLiteral).text;
  const names = statement.importClause?.namedBindings;
  if (!specifier.startsWith('.') || names === undefined || !ts.isNamedImports(names)) return;
  const from = relative(root, resolve(root, dirname(file), specifier));
  for (const { name, propertyName } of names.elements)
    imports.set(name.text, `${from} ${(propertyName ?? name).text}`);
}

function namesOf(statement: ts.Statement): { name: string; isFunction: boolean }[] {
  if (ts.isFunctionDeclaration(statement))
    return [{ name: statement.name!.text, isFunction: true }];
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name, initializer }) => ({
      name: name.getText(),
      isFunction: initializer !== undefined && ts.isArrowFunction(initializer),
    }));
  if (ts.isClassDeclaration(statement)) return [{ name: statement.name!.text, isFunction: false }];
  return [{ name: '', isFunction: false }];
}

const isExported = (statement: ts.Statement): boolean =>
  ts.canHaveModifiers(statement) &&
  (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);

function identifiersIn(node: ts.Node): Set<string> {
  const found = new Set<string>();
  const visit = (child: ts.Node): void => {
    if (ts.isIdentifier(child)) found.add(child.text);
    child.forEachChild(visit);
  };
  visit(node);
  return found;
}

/** Every `file name` of `domain/` that a caller outside reaches, directly or through `domain/` itself. */
function reachedFrom(callers: readonly string[], domain: ReadonlyMap<string, Source>): Set<string> {
  const reached = new Set<string>();
  const waiting = callers
    .flatMap((file) => [...read(file).imports.values()])
    .filter((target) => target.startsWith('domain/'));
  for (let target = waiting.pop(); target !== undefined; target = waiting.pop()) {
    if (reached.has(target)) continue;
    reached.add(target);
    const [file = '', name = ''] = target.split(' ');
    const source = domain.get(file);
    for (const identifier of source?.declarations.get(name) ?? []) {
      const imported = source!.imports.get(identifier);
      if (imported !== undefined) waiting.push(imported);
      else if (source!.declarations.has(identifier)) waiting.push(`${file} ${identifier}`);
    }
  }
  return reached;
}

test('every function of domain/ is reached by the product, or waits in the list', () => {
  const domain = new Map(filesOf('domain').map((file) => [file, read(file)]));
  const reached = reachedFrom(CALLERS.flatMap(filesOf), domain);
  expect(reached.size).toBeGreaterThan(300);
  const uncalled = [...domain]
    .flatMap(([file, { exportedFunctions }]) =>
      [...exportedFunctions].map((name) => `${file} ${name}`),
    )
    .filter((target) => !reached.has(target) && !ORACLES.includes(target.split(' ')[0]!))
    .sort();
  expect(uncalled).toEqual(UNCALLED);
});
