import { readFileSync } from 'node:fs';

/** The paths of a route table of the pages. Its file cannot be imported in a test: it names components. */
export function pathsOf(table: 'console' | 'portal'): string[] {
  const file = new URL(`../../web/${table}/routes.ts`, import.meta.url);
  return [...readFileSync(file, 'utf8').matchAll(/\{ path: '([^']+)'/g)].map((match) => match[1]!);
}

/** The path of a record: `/customers/$id` with its id. */
export const withId = (path: string, id = ''): string =>
  path.replace(/\$\w+/, encodeURIComponent(id));

/** Ids of records by the first part of the paths that show them: `{ customers: 'cus_1' }`. */
export interface Shown {
  readonly addons: string;
  readonly 'cost-sheets': string;
  readonly coupons: string;
  readonly customers: string;
  readonly events: string;
  readonly features: string;
  readonly invoices: string;
  readonly 'late-usage': string;
  readonly meters: string;
  readonly plans: string;
  readonly 'price-groups': string;
  readonly 'scheduled-exports': string;
  readonly subscriptions: string;
  readonly 'tax-rates': string;
  readonly 'test-clocks': string;
  readonly wallets: string;
  readonly webhooks: string;
}

/** The id for each path of the console that has one: pages of a customer, `/customers/$id` and below, show the same. */
export function recordsOf(shown: Shown): ReadonlyMap<string, string> {
  const ids: Readonly<Partial<Record<string, string>>> = { ...shown };
  const paths = pathsOf('console').filter((path) => path.includes('$id'));
  return new Map(
    paths.map((path) => {
      const id = ids[path.split('/')[1]!];
      if (id === undefined) throw new Error(`no record is made for the page ${path}`);
      return [path, id] as const;
    }),
  );
}
