import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** `GET /plans/{id}` */
export type OperationName = string;

/** Every operation of the installed client, read off its own code: `METHOD /path`, below the prefix. */
export function sdkOperations(): OperationName[] {
  const root = dirname(createRequire(import.meta.url).resolve('@flexprice/sdk/package.json'));
  const folder = join(root, 'esm', 'funcs');
  return readdirSync(folder)
    .filter((file) => file.endsWith('.js'))
    .flatMap((file) => {
      const code = readFileSync(join(folder, file), 'utf8');
      const path = /pathToFunc\("([^"]+)"\)/.exec(code)?.[1];
      const method = /method: "([A-Z]+)"/.exec(code)?.[1];
      return path === undefined || method === undefined ? [] : [`${method} ${path}`];
    })
    .sort();
}

/** The operation that a request is one of: literal segments before parameters. */
export function operationOf(
  operations: readonly OperationName[],
  method: string,
  path: string,
): OperationName | null {
  const matching = operations.filter((operation) => {
    const [name, pattern = ''] = operation.split(' ');
    const expression = `^${pattern.replace(/\{[^}]+\}/g, '[^/]+')}$`;
    return name === method && new RegExp(expression).test(path);
  });
  const parameters = (operation: string) => operation.split('{').length;
  return matching.sort((a, b) => parameters(a) - parameters(b))[0] ?? null;
}
