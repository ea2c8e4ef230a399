import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import ts from 'typescript';

/** Methods that read a text or bytes at a place, or search them from there. */
const READS = new Set([
  'at', 'charAt', 'charCodeAt', 'codePointAt', 'exec', 'indexOf', 'lastIndexOf', 'readUInt8',
  'search', 'slice', 'startsWith', 'subarray', 'substr', 'substring',
]); // prettier-ignore

/**
 * Every function of the folders that reads characters, bytes or items by place inside a loop that is not
 * `for … of`: `ingest/json-scanner.ts peek`. Found by syntax only, so items of lists are among them.
 */
export function scanningFunctions(folders: readonly string[]): string[] {
  const listed = execFileSync('git', [
    'ls-files',
    '--cached',
    '--others',
    '--exclude-standard',
    ...folders,
  ]);
  const files = listed
    .toString()
    .split('\n')
    .filter((name) => name.endsWith('.ts'));
  return [...new Set(files.flatMap(scanningFunctionsOf))].sort();
}

function scanningFunctionsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  if (!/\b(for|while)\b/.test(text)) return [];
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node, name: string, isInLoop: boolean): void => {
    const own = nameOfFunction(node);
    if (isInLoop && own === null && readsByPlace(node)) found.push(`${file} ${name}`);
    // A condition and a step run as often as the body; so does a function that is made in a loop.
    ts.forEachChild(node, (inner) => visit(inner, own ?? name, isInLoop || isLoop(node)));
  };
  visit(source, 'the file', false);
  return found;
}

const isLoop = (node: ts.Node): boolean =>
  ts.isForStatement(node) || ts.isWhileStatement(node) || ts.isDoStatement(node);

function nameOfFunction(node: ts.Node): string | null {
  if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node))
    return node.name?.getText() ?? null;
  const isNamed = ts.isVariableDeclaration(node) || ts.isPropertyDeclaration(node);
  const { initializer } = node as Partial<ts.VariableDeclaration>;
  if (!isNamed || initializer === undefined) return null;
  const isFunction = ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer);
  return isFunction ? node.name.getText() : null;
}

function readsByPlace(node: ts.Node): boolean {
  if (ts.isElementAccessExpression(node))
    return (
      !ts.isNumericLiteral(node.argumentExpression) && !ts.isStringLiteral(node.argumentExpression)
    );
  return (
    ts.isCallExpression(node) &&
    ts.isPropertyAccessExpression(node.expression) &&
    READS.has(node.expression.name.text)
  );
}
