import type { z } from 'zod';

/** One schema of a request, and its place in the code. */
export interface Visited {
  readonly path: string;
  readonly schema: z.ZodType;
  readonly parent: z.ZodType | null;
}

/** A schema with all its parts, each once. */
export function* schemasWithin(
  root: z.ZodType,
  path: string,
  seen: Set<z.ZodType> = new Set(),
  parent: z.ZodType | null = null,
): Generator<Visited> {
  if (seen.has(root)) return;
  seen.add(root);
  yield { path, schema: root, parent };
  for (const [name, inner] of partsOf(root)) yield* schemasWithin(inner, path + name, seen, root);
}

function partsOf(schema: z.ZodType): [name: string, inner: z.ZodType][] {
  const def = schema._zod.def as unknown as Record<string, z.ZodType> & {
    readonly type: string;
    readonly shape: Record<string, z.ZodType>;
    readonly options: readonly z.ZodType[];
    readonly items: readonly z.ZodType[];
    readonly getter: () => z.ZodType;
  };
  switch (def.type) {
    case 'object':
      return [
        ...Object.entries(def.shape).map(([key, inner]): [string, z.ZodType] => [`.${key}`, inner]),
        ...(def['catchall'] === undefined ? [] : [['.*', def['catchall']] as [string, z.ZodType]]),
      ];
    case 'array':
      return [['[]', def['element']!]];
    case 'record':
      return [['{key}', def['keyType']!], ['.*', def['valueType']!]]; // prettier-ignore
    case 'union':
      return def.options.map((option, index) => [`|${index}`, option]);
    case 'tuple':
      return def.items.map((item, index) => [`[${index}]`, item]);
    case 'intersection':
      return [['&', def['left']!], ['&', def['right']!]]; // prettier-ignore
    case 'pipe':
      return [['', def['in']!], ['', def['out']!]]; // prettier-ignore
    case 'lazy':
      return [['', def.getter()]];
    default:
      return def['innerType'] === undefined ? [] : [['', def['innerType']]];
  }
}
