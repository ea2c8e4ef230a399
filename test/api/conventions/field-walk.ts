import { readFileSync } from 'node:fs';
import { API_ROUTES } from '../../../api/routes.ts';
import type { TestApi, TestAnswer } from '../../support/api.ts';
import { effectOf, type Seen } from './effects.ts';
import { NOT_READ_YET, SHOWN_ELSEWHERE } from './shown-elsewhere.ts';

/** Read by people and passed on, and read by no rule. */
const DESCRIPTIONS: ReadonlySet<string> = new Set([
  'name', 'display_name', 'description', 'metadata', 'lookup_key', 'memo', 'display_order', 'contact',
  'contact_persons', 'meter_display_name', 'plan_display_name', 'reason', 'invoice_pdf_url',
]); // prettier-ignore

/** The requests of one route. */
export interface Subject {
  /** A request that is accepted, with new records to name. */
  base(): Promise<Record<string, unknown>>;
  /** Further answers in which an effect shows: those of what uses the record. */
  see?(answer: any, path: string): Promise<unknown[]>;
  readonly values: Record<string, unknown>;
  /** Where the request goes, if a record of the path must be new each time. */
  path?(field: string): Promise<string>;
  /** The route that creates the record, if that shows what its fields do: answering them is enough then. */
  readonly writes?: string;
  /** Fields of one kind go to records of one kind, so they share the request without a second value. */
  kindOf?(field: string): string;
}

/** A second value, beside other fields that are sent with and without it. */
interface Second {
  readonly second: unknown;
  readonly beside: Record<string, unknown>;
}
export const beside = (fields: Record<string, unknown>, second: unknown): Second => ({
  second,
  beside: fields,
});
const isSecond = (value: unknown): value is Second =>
  typeof value === 'object' && value !== null && 'second' in value && 'beside' in value;

type Fields = Record<string, { isOptional(): boolean }>;

function bodyOf(route: string): Fields {
  const [method, path] = route.split(' ');
  const found = API_ROUTES.find((known) => known.method === method && known.path === path);
  if (found === undefined) throw new Error(`${route} is not a route`);
  return (found.body as unknown as { shape: Fields }).shape;
}

export const optionalFields = (route: string): string[] =>
  Object.entries(bodyOf(route))
    .filter(([, schema]) => schema.isOptional())
    .map(([field]) => field);

/**
 * Sends the route's request without and with each optional field. Answers the fields that change nothing and are
 * not refused, with what happened instead.
 */
export async function walkFields(
  api: TestApi,
  route: string,
  subject: Subject,
): Promise<unknown[]> {
  const [method, template] = route.split(' ') as ['POST' | 'PUT', string];
  const call = (path: string, body: object): Promise<TestAnswer> =>
    method === 'PUT' ? api.put(`/v1${path}`, body) : api.post(`/v1${path}`, body);
  const send = async (field: string, body: Record<string, unknown>): Promise<Seen> => {
    const path = (await subject.path?.(field)) ?? template;
    const answer = await call(path, body);
    if (answer.status >= 300) return { answer, views: [] };
    return { answer, views: [answer.body, ...((await subject.see?.(answer.body, path)) ?? [])] };
  };
  const proven = subject.writes === undefined ? [] : Object.keys(bodyOf(subject.writes));
  const without = new Map<string, Seen>();
  const wrong: unknown[] = [];
  for (const field of optionalFields(route)) {
    const id = `${route} ${field}`;
    if (SHOWN_ELSEWHERE[id] !== undefined) continue;
    const value = subject.values[field];
    if (value === undefined) {
      wrong.push([field, 'has no second value in this test']);
      continue;
    }
    const { second, beside: fields } = isSecond(value) ? value : beside({}, value);
    const key = JSON.stringify([Object.entries(fields), subject.kindOf?.(field)]);
    const before =
      without.get(key) ?? (await send(field, { ...(await subject.base()), ...fields }));
    without.set(key, before);
    if (before.answer.status >= 300) {
      wrong.push([field, 'is refused without the second value', before.answer.body]);
      continue;
    }
    const after = await send(field, { ...(await subject.base()), ...fields, [field]: second });
    const effect = effectOf(field, second, before, after);
    const isRead = effect === 'wider' || effect === 'refused';
    const isShown = effect === 'echo' && (DESCRIPTIONS.has(field) || proven.includes(field));
    if (NOT_READ_YET.has(id) ? isRead : !isRead && !isShown) wrong.push([field, effect]);
  }
  return wrong;
}

/** Fields shown elsewhere that are no fields, or whose tests do not exist. */
export function staleReferences(): string[] {
  const isField = (name: string): boolean => {
    const [method, path, field] = name.split(' ');
    return optionalFields(`${method} ${path}`).includes(field!);
  };
  const missing = Object.entries(SHOWN_ELSEWHERE).filter(([, [file, title]]) => {
    const source = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
    return !source.includes(title);
  });
  return [
    ...[...NOT_READ_YET, ...Object.keys(SHOWN_ELSEWHERE)].filter((name) => !isField(name)),
    ...missing.map(([field]) => field),
  ];
}
