import type { z } from 'zod';

/** The fields of the shape of a schema. A row that has more columns passes none of them on to the answer. */
export function picked<Shape extends z.ZodRawShape>(
  shape: Shape,
  row: z.output<z.ZodObject<Shape>>,
): z.output<z.ZodObject<Shape>> {
  const names = Object.keys(shape) as (keyof typeof row)[];
  return Object.fromEntries(names.map((name) => [name, row[name]])) as typeof row;
}
