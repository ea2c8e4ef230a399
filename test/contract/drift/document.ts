import { LEAF, operationName, type Operation, type Shape } from './shape.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}
interface Document {
  readonly paths: Record<string, Record<string, DocumentedOperation>>;
  readonly components: { readonly schemas: Record<string, Schema> };
}
interface DocumentedOperation {
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Record<string, { readonly schema: Schema }> };
  readonly responses: Record<
    string,
    { readonly content?: Record<string, { readonly schema: Schema }> }
  >;
}

/** The operations of an OpenAPI document. */
export function documentedOperations(given: object): Map<string, Operation> {
  const document = given as Document;
  const shapeOf = (schema: Schema | undefined): Shape => {
    const branches = branchesOf(document, schema);
    const objects = branches.filter(({ properties }) => properties !== undefined);
    if (objects.length > 0)
      return {
        kind: 'object',
        model: schema?.$ref?.split('/').at(-1) ?? '',
        keys: () =>
          new Map(
            objects.flatMap(({ properties }) =>
              Object.entries(properties!).map(([key, inner]): [string, Shape] => [
                key,
                shapeOf(inner),
              ]),
            ),
          ),
      };
    const list = branches.find(({ items }) => items !== undefined);
    return list === undefined ? LEAF : { kind: 'array', item: () => shapeOf(list.items) };
  };
  return new Map(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]): [string, Operation] => {
        const name = operationName(method.toUpperCase(), path);
        const status =
          Object.keys(operation.responses).find((code) => code.startsWith('2')) ?? '200';
        return [
          name,
          {
            name,
            status: Number(status),
            answer: shapeOf(operation.responses[status]?.content?.['application/json']?.schema),
            request: shapeOf(operation.requestBody?.content['application/json']?.schema),
            query: operation.parameters
              .filter((parameter) => parameter.in === 'query')
              .map((parameter) => parameter.name),
          },
        ];
      }),
    ),
  );
}

/** The schema with references followed and alternatives laid out. */
function branchesOf(document: Document, schema: Schema | undefined): Schema[] {
  if (schema === undefined) return [];
  if (schema.$ref !== undefined)
    return branchesOf(document, document.components.schemas[schema.$ref.split('/').at(-1)!]);
  const inner = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return [schema, ...inner.flatMap((branch) => branchesOf(document, branch))];
}
