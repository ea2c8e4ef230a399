import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import type { Caller } from './callers.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const FOLDERS = ['domain', 'api', 'jobs', 'main/maintain'];

/** Values that reach their users as a dependency, not as an import: name of the property → declaration. */
const INJECTED: ReadonlyMap<string, string> = new Map([
  ['checkoutGates', 'api/billing/checkout/checkout-gates.ts checkoutGates'],
]);

/** A declaration as `file name`. */
type Declared = string;

export interface Code {
  /** Every call of a function of `domain/states` that moves a record, with the triggers that it can fire. */
  readonly calls: readonly {
    readonly moves: string;
    readonly in: Declared;
    readonly triggers: readonly string[];
  }[];
  /** What a caller reaches, directly or through other functions; null if there is no such caller. */
  reachedBy(caller: Caller): ReadonlySet<Declared> | null;
}

interface Source {
  readonly imports: Map<string, Declared>;
  readonly declarations: Map<string, Set<string>>;
}

/** Reads the routes, jobs and commands of the operator, and which of them can reach which move. */
export function readCode(movers: readonly string[]): Code {
  const files = FOLDERS.flatMap(filesOf);
  const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
  const trees = new Map(
    [...texts].map(([file, text]) => [
      file,
      ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true),
    ]),
  );
  const sources = new Map([...trees].map(([file, tree]) => [file, read(file, tree)]));
  const mentions = (text: string) => movers.some((name) => text.includes(`${name}(`));
  const entries = new Map([...trees].flatMap(([file, tree]) => entriesOf(file, tree)));
  const using = new Map(
    [...trees].filter(([file]) => !file.startsWith('domain/states/') && mentions(texts.get(file)!)),
  );
  return {
    calls: callsIn(using, movers),
    reachedBy(caller) {
      const entry = entries.get(caller);
      return entry === undefined ? null : reached(entry.file, entry.identifiers, sources);
    },
  };
}

function filesOf(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name));
}

function read(file: string, tree: ts.SourceFile): Source {
  const imports = new Map<string, Declared>();
  const declarations = new Map<string, Set<string>>();
  for (const statement of tree.statements) {
    if (ts.isImportDeclaration(statement)) {
      const specifier = (statement.moduleSpecifier as ts.StringLiteral).text;
      const names = statement.importClause?.namedBindings;
      if (!specifier.startsWith('.') || names === undefined || !ts.isNamedImports(names)) continue;
      const from = relative(root, resolve(root, dirname(file), specifier));
      for (const { name, propertyName } of names.elements)
        imports.set(name.text, `${from} ${(propertyName ?? name).text}`);
      continue;
    }
    for (const name of namesOf(statement)) declarations.set(name, identifiersIn(statement));
  }
  return { imports, declarations };
}

function namesOf(statement: ts.Statement): string[] {
  if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement))
    return statement.name === undefined ? [] : [statement.name.text];
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  return [];
}

function identifiersIn(node: ts.Node): Set<string> {
  const found = new Set<string>();
  const visit = (child: ts.Node): void => {
    if (ts.isIdentifier(child)) found.add(child.text);
    child.forEachChild(visit);
  };
  visit(node);
  return found;
}

interface Entry {
  readonly file: string;
  readonly identifiers: ReadonlySet<string>;
}

/** Object literals that declare a route (`method`, `path`), a job or a command (`name`, `run`). */
function entriesOf(file: string, tree: ts.SourceFile): [Caller, Entry][] {
  const found: [Caller, Entry][] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isObjectLiteralExpression(node)) {
      const text = (name: string) => literalOf(node, name);
      const entry = { file, identifiers: identifiersIn(node) };
      const [method, path, name] = [text('method'), text('path'), text('name')];
      if (method !== null && path !== null) found.push([`${method} ${path}`, entry]);
      const hasRun = node.properties.some((property) => property.name?.getText() === 'run');
      if (hasRun && name !== null && file.startsWith('jobs/')) found.push([`job ${name}`, entry]);
    }
    node.forEachChild(visit);
  };
  visit(tree);
  if (file.startsWith('main/maintain/'))
    for (const [name, identifiers] of read(file, tree).declarations) {
      const kebab = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      found.push([`maintain ${kebab}`, { file, identifiers }]);
    }
  return found;
}

function literalOf(node: ts.ObjectLiteralExpression, name: string): string | null {
  for (const property of node.properties)
    if (ts.isPropertyAssignment(property) && property.name.getText() === name)
      return ts.isStringLiteralLike(property.initializer) ? property.initializer.text : null;
  return null;
}

function reached(
  file: string,
  identifiers: ReadonlySet<string>,
  sources: ReadonlyMap<string, Source>,
): ReadonlySet<Declared> {
  const done = new Set<Declared>();
  const waiting: Declared[] = [];
  const follow = (from: string, names: Iterable<string>): void => {
    const source = sources.get(from);
    for (const name of names) {
      const injected = INJECTED.get(name);
      if (injected !== undefined) waiting.push(injected);
      const target =
        source?.imports.get(name) ??
        (source?.declarations.has(name) ? `${from} ${name}` : undefined);
      if (target !== undefined) waiting.push(target);
    }
  };
  follow(file, identifiers);
  for (let target = waiting.pop(); target !== undefined; target = waiting.pop()) {
    if (done.has(target)) continue;
    done.add(target);
    const [from = '', name = ''] = target.split(' ');
    follow(from, sources.get(from)?.declarations.get(name) ?? []);
  }
  return done;
}

/** Stands for every trigger of the machine: the argument is a state that the caller sends. */
export const ANY = '*';

/** The calls of `movers` with the triggers that their last argument can be. */
function callsIn(
  trees: ReadonlyMap<string, ts.SourceFile>,
  movers: readonly string[],
): Code['calls'] {
  const calls: Code['calls'][number][] = [];
  for (const [file, tree] of trees)
    for (const statement of tree.statements) {
      const [name = ''] = namesOf(statement);
      const visit = (node: ts.Node): void => {
        if (
          ts.isCallExpression(node) &&
          ts.isIdentifier(node.expression) &&
          movers.includes(node.expression.text)
        )
          calls.push({
            moves: node.expression.text,
            in: `${file} ${name}`,
            triggers: wordsOf(node.arguments.at(-1)!, statement, tree),
          });
        node.forEachChild(visit);
      };
      visit(statement);
    }
  return calls;
}

/** The string literals that an expression can be, by its text, its declared type or its local function. */
function wordsOf(node: ts.Node, statement: ts.Statement, tree: ts.SourceFile): string[] {
  const again = (inner: ts.Node) => wordsOf(inner, statement, tree);
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isAsExpression(node)) return again(node.expression);
  if (ts.isConditionalExpression(node)) return [...again(node.whenTrue), ...again(node.whenFalse)];
  if (ts.isLiteralTypeNode(node)) return again(node.literal);
  if (ts.isUnionTypeNode(node)) return node.types.flatMap(again);
  if (ts.isObjectLiteralExpression(node))
    return node.properties.flatMap((part) =>
      ts.isPropertyAssignment(part) ? again(part.initializer) : [ANY],
    );
  if (ts.isElementAccessExpression(node)) return again(node.expression);
  if (ts.isCallExpression(node) && ts.isIdentifier(node.expression))
    return returnsOf(node.expression.text, tree)?.flatMap(again) ?? [ANY];
  if (!ts.isIdentifier(node)) return [ANY];
  const declared = declarationOf(node.text, statement) ?? declarationOf(node.text, tree);
  if (declared?.type !== undefined) return again(declared.type);
  return declared !== null &&
    ts.isVariableDeclaration(declared) &&
    declared.initializer !== undefined
    ? again(declared.initializer)
    : [ANY];
}

function declarationOf(
  name: string,
  within: ts.Node,
): ts.VariableDeclaration | ts.ParameterDeclaration | null {
  let found: ts.VariableDeclaration | ts.ParameterDeclaration | null = null;
  const visit = (node: ts.Node): void => {
    if ((ts.isVariableDeclaration(node) || ts.isParameter(node)) && node.name.getText() === name)
      found ??= node;
    if (found === null) node.forEachChild(visit);
  };
  visit(within);
  return found;
}

function returnsOf(name: string, tree: ts.SourceFile): ts.Expression[] | null {
  const found: ts.Expression[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isReturnStatement(node) && node.expression !== undefined) found.push(node.expression);
    node.forEachChild(visit);
  };
  for (const statement of tree.statements)
    if (ts.isFunctionDeclaration(statement) && statement.name?.text === name) visit(statement);
  return found.length === 0 ? null : found;
}
