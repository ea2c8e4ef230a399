import { readFileSync } from 'node:fs';

/** The paths of a route table of the pages. Its file cannot be imported in a test: it names components. */
export function pathsOf(table: 'console' | 'portal'): string[] {
  const file = new URL(`../../web/${table}/routes.ts`, import.meta.url);
  return [...readFileSync(file, 'utf8').matchAll(/\{ path: '([^']+)'/g)].map((match) => match[1]!);
}

/** The path of a record: `/customers/$id` with its id. */
export const withId = (path: string, id = ''): string =>
  path.replace(/\$\w+/, encodeURIComponent(id));
