import { z } from 'zod';
import type { Route } from './route.ts';

type Json = { [key: string]: unknown };

export interface OpenApiOptions {
  readonly title: string;
  /** Version of the document, not of the product. */
  readonly version: string;
  readonly description: string;
  /** Path prefix of all routes, for example `/v1`; becomes the server's address. */
  readonly prefix: string;
}

/**
 * The OpenAPI 3.0.1 document of the routes. It is made from the schemas that validate the requests and
 * that the tests hold the answers against, so it can not say anything else than the service does.
 * Schemas that carry an id (`.meta({ id: 'Plan' })`) become components under that name.
 */
export function openApiDocument(routes: readonly Route<never>[], options: OpenApiOptions): Json {
  const components: Json = { Error: errorSchema() };
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const operations = (paths[route.path] ??= {});
    operations[route.method.toLowerCase()] = operation(route, components);
  }
  return {
    openapi: '3.0.1',
    info: { title: options.title, version: options.version, description: options.description },
    servers: [{ url: options.prefix }],
    security: [{ ApiKeyAuth: [] }, { BearerAuth: [] }],
    tags: [...new Set(routes.map(tagOf))].map((name) => ({ name })),
    paths,
    components: {
      schemas: components,
      securitySchemes: {
        ApiKeyAuth: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        BearerAuth: { type: 'http', scheme: 'bearer' },
        PortalSession: { type: 'apiKey', in: 'header', name: 'X-Session-Token' },
      },
    },
  };
}

const tagOf = (route: Route<never>): string => route.path.split('/')[1]!;

function operation(route: Route<never>, components: Json): Json {
  const answer: Json = { description: 'Success' };
  if (route.contentType !== undefined)
    answer['content'] = { [route.contentType]: { schema: { type: 'string', format: 'binary' } } };
  else if (route.answer !== null)
    answer['content'] = json(schemaOf(route.answer, 'output', components));
  return {
    operationId: operationId(route),
    summary: route.summary,
    tags: [tagOf(route)],
    ...(route.deprecated === true ? { deprecated: true } : {}),
    ...(route.permission === 'public' ? { security: [] } : {}),
    ...(route.permission === 'portal' ? { security: [{ PortalSession: [] }] } : {}),
    'x-permission': route.permission,
    parameters: [
      ...parameters('path', route.params, components),
      ...parameters('query', route.query, components),
      ...(mayRepeat(route) ? [IDEMPOTENCY_KEY] : []),
    ],
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: !route.body.safeParse(undefined).success,
            content:
              route.bodyType === undefined
                ? json(schemaOf(route.body, 'input', components))
                : { [route.bodyType]: { schema: { type: 'string', format: 'binary' } } },
          },
        }),
    responses: {
      [String(route.status)]: answer,
      default: {
        description: 'A refusal or a failure',
        content: json({ $ref: '#/components/schemas/Error' }),
      },
    },
  };
}

/** A call that changes something can be named, so that a repeat does it once. */
const mayRepeat = ({ method, permission }: Route<never>): boolean =>
  method !== 'GET' && permission !== 'public' && !permission.endsWith(':read');

const IDEMPOTENCY_KEY: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A repeat with the same key and the same request gets the first answer. Kept 7 days.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

const json = (schema: unknown): Json => ({ 'application/json': { schema } });

/** `POST /plans/{id}/clone` → `post_plans_id_clone`: unique, because method and path are. */
function operationId(route: Route<never>): string {
  const words = route.path.replace(/[{}]/g, '').split('/').filter(Boolean);
  return [route.method.toLowerCase(), ...words].join('_').replace(/[^A-Za-z0-9_]/g, '_');
}

function parameters(
  where: 'path' | 'query',
  schema: z.ZodType | undefined,
  components: Json,
): Json[] {
  if (schema === undefined) return [];
  const object = schemaOf(schema, 'input', components);
  const required = (object['required'] ?? []) as string[];
  return Object.entries((object['properties'] ?? {}) as Json).map(([name, property]) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    schema: property,
  }));
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output', components: Json): Json {
  const { definitions, ...own } = z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io,
    unrepresentable: 'any',
    // The generated patterns of dates and ids are longer than everything else together.
    override: ({ jsonSchema }) => {
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
    },
  }) as Json & { definitions?: Json };
  for (const [name, definition] of Object.entries(definitions ?? {}))
    components[name] = pointToComponents(definition);
  return pointToComponents(own) as Json;
}

/** The same schema with `#/definitions/X` as `#/components/schemas/X`. */
function pointToComponents(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pointToComponents);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string'
        ? inner.replace('#/definitions/', '#/components/schemas/')
        : pointToComponents(inner),
    ]),
  );
}

function errorSchema(): Json {
  const text = { type: 'string' };
  const detail = { type: 'object', properties: { path: text, code: text, message: text } };
  return {
    type: 'object',
    required: ['success', 'error', 'code', 'http_status_code', 'message', 'details', 'request_id'],
    properties: {
      success: { type: 'boolean', enum: [false] },
      error: {
        type: 'object',
        properties: { message: text, internal_error: { type: 'string', nullable: true } },
      },
      code: text,
      http_status_code: { type: 'integer' },
      message: text,
      details: { type: 'array', items: detail },
      request_id: text,
    },
  };
}
