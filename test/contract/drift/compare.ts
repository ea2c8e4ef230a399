import type { Reference } from './reference.ts';
import { objectIn, type Operation, type Shape } from './shape.ts';

export type DifferenceKind = 'route' | 'key' | 'status' | 'field';

/** One way in which the product is not as the reference. */
export interface Difference {
  readonly kind: DifferenceKind;
  readonly group: string;
  /**
   * The name under which it is listed: `POST /plans/{}` of a route or a status, `Model.key` of an answer,
   * `POST /plans/{} field` of a request.
   */
  readonly name: string;
  readonly detail: string;
}

/** Groups of routes by the first segment of their path. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  catalog: [
    'addons', 'costs', 'coupons', 'creditgrants', 'entitlements', 'features', 'groups', 'meters', 'plans',
    'prices', 'taxes',
  ],
  customers: ['customers'],
  tenancy: ['auth', 'environments', 'rbac', 'secrets', 'settings', 'tenant', 'tenants', 'users'],
  usage: ['events', 'meter-usage', 'usage-records'],
}; // prettier-ignore

const OTHERS = 'money and the rest';
export const ALL_GROUPS = [...Object.keys(GROUPS), OTHERS];

export function groupOf(operation: string): string {
  const path = operation.split(' ')[1] ?? '';
  if (/^\/customers\/.*(wallets|invoices)/.test(path)) return OTHERS;
  const [, segment = ''] = path.split('/');
  const found = Object.entries(GROUPS).find(([, segments]) => segments.includes(segment));
  return found?.[0] ?? OTHERS;
}

/** Everything that the reference has and the document has not, by name within each kind. */
export function compare(ours: ReadonlyMap<string, Operation>, reference: Reference): Difference[] {
  const found = new Map<string, Difference>();
  const note = (difference: Difference) => {
    const key = `${difference.kind} ${difference.name}`;
    if (!found.has(key)) found.set(key, difference);
  };
  for (const source of [reference.client, reference.service])
    for (const operation of source.values()) {
      const own = ours.get(operation.name);
      const group = groupOf(operation.name);
      const at = { group, name: operation.name };
      if (own === undefined) {
        const isCalled = reference.client.has(operation.name);
        note({ ...at, kind: 'route', detail: isCalled ? 'the typed client calls it' : '' });
        continue;
      }
      // Where the two disagree the client decides: it refuses every other status.
      const expected = reference.client.get(operation.name)?.status ?? operation.status;
      if (own.status !== expected)
        note({ ...at, kind: 'status', detail: `${own.status}, the reference ${expected}` });
      if (own.answer.kind === 'object' && operation.answer.kind === 'array')
        note({ kind: 'key', group, name: `${operation.name} as a bare array`, detail: '' });
      else
        for (const { model, key } of missingKeys(own.answer, operation.answer))
          note({ kind: 'key', group, name: `${model}.${key}`, detail: operation.name });
      for (const { path } of missingKeys(own.request, operation.request))
        note({ kind: 'field', group, name: `${operation.name} ${path}`, detail: '' });
      for (const parameter of operation.query)
        if (!own.query.includes(parameter))
          note({ kind: 'field', group, name: `${operation.name} ?${parameter}`, detail: '' });
    }
  return [...found.values()];
}

interface MissingKey {
  readonly model: string;
  readonly key: string;
  readonly path: string;
}

/** Keys that `wanted` has and `own` has not, where both are objects; each pair of shapes once. */
function missingKeys(own: Shape, wanted: Shape): MissingKey[] {
  const missing: MissingKey[] = [];
  const seen = new Set<string>();
  const visit = (left: Shape, right: Shape, path: string): void => {
    const [mine, theirs] = [objectIn(left), objectIn(right)];
    if (mine === null || theirs === null) return;
    const pair = `${mine.model}/${theirs.model}`;
    if (mine.model !== '' && seen.has(pair)) return;
    seen.add(pair);
    if (path.split('.').length > 12) return;
    const keys = mine.keys();
    for (const [key, inner] of theirs.keys()) {
      const below = path === '' ? key : `${path}.${key}`;
      const held = keys.get(key);
      if (held === undefined) missing.push({ model: theirs.model, key, path: below });
      else visit(held, inner, below);
    }
  };
  visit(own, wanted, '');
  return missing;
}
