/**
 * What keys a value has, as the drift check compares it: kinds of leaves do not matter here, because the
 * typed client decodes real answers in its own test.
 */
export type Shape =
  | { readonly kind: 'object'; readonly model: string; keys(): ReadonlyMap<string, Shape> }
  | { readonly kind: 'array'; item(): Shape }
  | { readonly kind: 'leaf' };

export const LEAF: Shape = { kind: 'leaf' };

/** One operation, `METHOD /path` below the prefix with parameters as `{}`. */
export interface Operation {
  readonly name: string;
  /** The success status; null if the source has none. */
  readonly status: number | null;
  readonly answer: Shape;
  readonly request: Shape;
  readonly query: readonly string[];
}

/** Path parameters have names of each side's own. */
export const operationName = (method: string, path: string): string =>
  `${method} ${path.replace(/\{[^}]+\}/g, '{}')}`;

/** The object inside of a list or a reference. */
export function objectIn(shape: Shape): Extract<Shape, { kind: 'object' }> | null {
  if (shape.kind === 'array') return objectIn(shape.item());
  return shape.kind === 'object' ? shape : null;
}
