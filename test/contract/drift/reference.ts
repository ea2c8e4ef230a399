import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LEAF, operationName, type Operation, type Shape } from './shape.ts';

/** The contract that existing clients rely on, from its two descriptions. */
export interface Reference {
  /** From the service's own document. */
  readonly service: ReadonlyMap<string, Operation>;
  /** What the typed client decodes. */
  readonly client: ReadonlyMap<string, Operation>;
}

type Notation = string | readonly Notation[] | { readonly [key: string]: unknown } | null;

interface ShapesFile {
  readonly paths: Record<
    string,
    {
      readonly params?: readonly { readonly name: string; readonly in: string }[];
      readonly request?: { readonly schema: Notation };
      readonly responses: Record<string, Notation>;
    }
  >;
  readonly schemas: Record<string, Notation>;
}
interface ClientFile {
  readonly operations: Record<string, { readonly ok: number; readonly model: string }>;
  readonly models: Record<string, Record<string, string>>;
}

/** Null when the directory has no contract. */
export function readReference(directory: string): Reference | null {
  const [shapes, client] = ['shapes.json', 'client-models.json'].map((name) =>
    join(directory, 'contract', name),
  ) as [string, string];
  if (!existsSync(shapes) || !existsSync(client)) return null;
  return {
    service: serviceOperations(JSON.parse(readFileSync(shapes, 'utf8')) as ShapesFile),
    client: clientOperations(JSON.parse(readFileSync(client, 'utf8')) as ClientFile),
  };
}

function serviceOperations(file: ShapesFile): Map<string, Operation> {
  const shapeOf = (value: Notation, model: string): Shape => {
    if (typeof value === 'string')
      return value.startsWith('#')
        ? shapeOf(file.schemas[value.slice(1)] ?? null, value.slice(1))
        : LEAF;
    if (Array.isArray(value)) {
      const [item = null] = value as readonly Notation[];
      return { kind: 'array', item: () => shapeOf(item, model) };
    }
    if (value === null || typeof value !== 'object' || isLeaf(value as object)) return LEAF;
    if (Array.isArray((value as { type?: unknown }).type))
      return shapeOf((value as { type: Notation }).type, model);
    const entries = Object.entries(value as Record<string, Notation>);
    return {
      kind: 'object',
      model,
      keys: () =>
        new Map(
          entries.map(([key, inner]) => {
            const name = key.replace(/!$/, '');
            return [name, shapeOf(inner, `${model}.${name}`)];
          }),
        ),
    };
  };
  return new Map(
    Object.entries(file.paths)
      .filter(([name]) => !name.includes('/webhook-events/'))
      .map(([key, operation]) => {
        const name = named(key);
        const [status, answer] = Object.entries(operation.responses).find(([code]) =>
          code.startsWith('2'),
        ) ?? ['200', null];
        return [
          name,
          {
            name,
            status: Number(status),
            answer: shapeOf(answer, name),
            request: shapeOf(operation.request?.schema ?? null, name),
            query: (operation.params ?? [])
              .filter((parameter) => parameter.in === 'query')
              .map((parameter) => parameter.name),
          },
        ];
      }),
  );
}

/** A type with bounds, words, or free keys. */
const isLeaf = (value: object): boolean =>
  'map' in value || 'content' in value || typeof (value as { type?: unknown }).type === 'string'
    ? !Object.values(value).some((inner) => typeof inner === 'string' && inner.startsWith('#'))
    : false;

function clientOperations(file: ClientFile): Map<string, Operation> {
  const shapeOf = (kind: string): Shape => {
    const list = /^\[(.*)\]$/.exec(kind);
    if (list !== null) return { kind: 'array', item: () => shapeOf(list[1]!) };
    const keys = file.models[kind];
    if (keys === undefined) return LEAF;
    return {
      kind: 'object',
      model: kind,
      keys: () => new Map(Object.entries(keys).map(([key, inner]) => [key, shapeOf(inner)])),
    };
  };
  return new Map(
    Object.entries(file.operations).map(([key, { ok, model }]) => {
      const name = named(key);
      return [name, { name, status: ok, answer: shapeOf(model), request: LEAF, query: [] }];
    }),
  );
}

function named(key: string): string {
  const [method = '', path = ''] = key.split(' ');
  return operationName(method, path);
}
