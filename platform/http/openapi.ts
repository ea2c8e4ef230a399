import { setImmediate as immediate } from 'node:timers/promises';
import { z } from 'zod';
import { isRefused } from '../../schemas/not-offered.ts';
import { isEmptyWhenUnset } from '../../schemas/primitives.ts';
import { DETAILS_MAX } from '../../domain/errors.ts';
import { readerOf } from './conditional.ts';
import { onlyReads, type Route } from './route.ts';

type Json = { [key: string]: unknown };

export type OpenApiVersion = '3.0.1' | '3.1.0';

export interface OpenApiOptions {
  /** 3.0.1 is the contract; 3.1.0 has the same content in current JSON Schema. */
  readonly openapi?: OpenApiVersion;
  readonly title: string;
  /** Version of the document, not of the product. */
  readonly version: string;
  readonly description: string;
  /** Path prefix of all routes, for example `/v1`; becomes the server's address. */
  readonly prefix: string;
  /** Example bodies by operation: `POST /plans`. */
  readonly examples?: Readonly<Record<string, object>>;
}

/** Schemas shared by several operations, and the OpenAPI version in which schemas are written. */
interface Components {
  readonly openapi: OpenApiVersion;
  readonly schemas: Json;
}

/**
 * The OpenAPI document of the routes. It is generated from the schemas that validate the requests and that
 * the tests check the answers against, so it cannot differ from the service. Schemas with an id (`.meta({ id:
 * 'Plan' })`) become components under that name.
 */
export function openApiDocument(routes: readonly Route<never>[], options: OpenApiOptions): Json {
  const steps = documentSteps(routes, options);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** The same document. Other work of the process is done between two routes: all of them take half a second. */
export async function openApiDocumentInSteps(
  routes: readonly Route<never>[],
  options: OpenApiOptions,
): Promise<Json> {
  const steps = documentSteps(routes, options);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    await immediate();
  }
}

function* documentSteps(
  routes: readonly Route<never>[],
  options: OpenApiOptions,
): Generator<undefined, Json, undefined> {
  const openapi = options.openapi ?? '3.0.1';
  const components: Components = { openapi, schemas: { Error: errorSchema(openapi) } };
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const operations = (paths[route.path] ??= {});
    operations[route.method.toLowerCase()] = operation(
      route,
      components,
      routes,
      options.examples ?? {},
    );
    yield;
  }
  return {
    openapi,
    info: { title: options.title, version: options.version, description: options.description },
    servers: [{ url: options.prefix }],
    security: [{ ApiKeyAuth: [] }, { BearerAuth: [] }],
    tags: [...new Set(routes.map(tagOf))].map((name) => ({ name })),
    paths,
    components: {
      schemas: components.schemas,
      responses: ERROR_ANSWERS,
      securitySchemes: {
        ApiKeyAuth: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        BearerAuth: { type: 'http', scheme: 'bearer' },
        PortalSession: { type: 'apiKey', in: 'header', name: 'X-Session-Token' },
      },
    },
  };
}

const tagOf = (route: Route<never>): string => route.path.split('/')[1]!;

function operation(
  route: Route<never>,
  components: Components,
  routes: readonly Route<never>[],
  examples: Readonly<Record<string, object>>,
): Json {
  const example = examples[`${route.method} ${route.path}`];
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
      ...(readerOf(route, routes) < 0 ? [] : [IF_MATCH]),
    ],
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: !route.body.safeParse(undefined).success,
            content:
              route.bodyType === undefined
                ? json(schemaOf(route.body, 'input', components), example)
                : { [route.bodyType]: { schema: { type: 'string', format: 'binary' } } },
          },
        }),
    responses: {
      [String(route.status)]: answer,
      ...(route.acceptedAnswer === undefined
        ? {}
        : {
            202: {
              description: 'Accepted: the rest is done later',
              content: json(schemaOf(route.acceptedAnswer, 'output', components)),
            },
          }),
      ...errorAnswers(route, routes),
    },
  };
}

const ERROR_CONTENT = {
  'application/json': { schema: { $ref: '#/components/schemas/Error' } },
  'application/problem+json': { schema: { type: 'object' } },
};
const errorAnswer = (description: string): Json => ({ description, content: ERROR_CONTENT });

/** The shape of every refusal, by the name under which operations refer to it. */
const ERROR_ANSWERS: Json = {
  Invalid: errorAnswer(
    'The request breaks a rule; each detail names a field and what would be right.',
  ),
  Unauthenticated: errorAnswer('No credential, or one that is unknown, withdrawn or expired.'),
  Forbidden: errorAnswer('The credential lacks the permission that the message names.'),
  NotFound: errorAnswer('There is no such record in the scope of the credential.'),
  Conflict: errorAnswer(
    'The record exists, is in use, or is being changed; or a key was used before.',
  ),
  PreconditionFailed: errorAnswer('The record is not in the version that If-Match names.'),
  TooManyRequests: errorAnswer('Too many requests; Retry-After says when to repeat.'),
  Failure: errorAnswer('Any other refusal, or a failure. 503 is safe to repeat.'),
};

function errorAnswers(route: Route<never>, routes: readonly Route<never>[]): Json {
  const isOpen = route.permission === 'public';
  const named: Record<string, string | false> = {
    400: 'Invalid',
    401: !isOpen && 'Unauthenticated',
    403: !isOpen && route.permission !== 'authenticated' && 'Forbidden',
    404: route.path.includes('{') && 'NotFound',
    409: !onlyReads(route) && 'Conflict',
    412: readerOf(route, routes) >= 0 && 'PreconditionFailed',
    429: 'TooManyRequests',
    default: 'Failure',
  };
  return Object.fromEntries(
    Object.entries(named).flatMap(([status, name]) =>
      name === false ? [] : [[status, { $ref: `#/components/responses/${name}` }]],
    ),
  );
}

/** Whether the call accepts an Idempotency-Key: it changes something, and a repeat runs it once. */
const mayRepeat = (route: Route<never>): boolean =>
  !onlyReads(route) && route.permission !== 'public';

const IDEMPOTENCY_KEY: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A repeat with the same key and the same request gets the first answer. Kept 7 days.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

const IF_MATCH: Json = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description: 'The ETag of the version that was read: the record is written only while it has it.',
  schema: { type: 'string' },
};

const json = (schema: unknown, example?: object): Json => ({
  'application/json': { schema, ...(example === undefined ? {} : { example }) },
});

/** `POST /plans/{id}/clone` → `post_plans_id_clone`: unique, because method and path are. */
function operationId(route: Route<never>): string {
  const words = route.path.replace(/[{}]/g, '').split('/').filter(Boolean);
  return [route.method.toLowerCase(), ...words].join('_').replace(/[^A-Za-z0-9_]/g, '_');
}

function parameters(
  where: 'path' | 'query',
  schema: z.ZodType | undefined,
  components: Components,
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

function schemaOf(schema: z.ZodType, io: 'input' | 'output', components: Components): Json {
  const { definitions, $defs, $schema, ...own } = z.toJSONSchema(schema, {
    target: components.openapi === '3.0.1' ? 'openapi-3.0' : 'draft-2020-12',
    io,
    unrepresentable: 'any',
    // Omitted: the generated patterns of dates and ids are longer than the rest of the document.
    override: ({ zodSchema, jsonSchema }) => {
      if (isEmptyWhenUnset(zodSchema as unknown as z.ZodType)) neverNull(jsonSchema as Json);
      if (zodSchema instanceof z.ZodObject) withoutRefused(zodSchema.shape, jsonSchema as Json);
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
    },
  }) as Json & { definitions?: Json; $defs?: Json };
  for (const [name, definition] of Object.entries(definitions ?? $defs ?? {}))
    components.schemas[name] = pointToComponents(definition);
  return pointToComponents(own) as Json;
}

/** Answers have "" instead of null there. */
function neverNull(schema: Json): void {
  const [text] = (schema['anyOf'] ?? []) as Json[];
  delete schema['nullable'];
  delete schema['anyOf'];
  Object.assign(schema, text);
}

/** A client cannot use a field that is refused whatever its value. */
function withoutRefused(shape: z.core.$ZodShape, schema: Json): void {
  for (const [key, field] of Object.entries(shape))
    if (isRefused(field as z.ZodType)) delete (schema['properties'] as Json)[key];
}

/** The same schema with `#/definitions/X` or `#/$defs/X` replaced by `#/components/schemas/X`. */
function pointToComponents(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pointToComponents);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string'
        ? inner.replace(/^#\/(definitions|\$defs)\//, '#/components/schemas/')
        : pointToComponents(inner),
    ]),
  );
}

function errorSchema(openapi: OpenApiVersion): Json {
  const text = { type: 'string' };
  const detail = { type: 'object', properties: { path: text, code: text, message: text } };
  const nullableText =
    openapi === '3.0.1' ? { type: 'string', nullable: true } : { type: ['string', 'null'] };
  return {
    type: 'object',
    required: [
      'success',
      'error',
      'code',
      'http_status_code',
      'message',
      'details',
      'error_count',
      'request_id',
    ],
    properties: {
      success: { type: 'boolean', enum: [false] },
      error: {
        type: 'object',
        properties: { message: text, internal_error: nullableText },
      },
      code: text,
      http_status_code: { type: 'integer' },
      message: text,
      details: { type: 'array', items: detail, maxItems: DETAILS_MAX },
      error_count: {
        type: 'integer',
        description: 'Problems found; `details` names the first 100.',
      },
      request_id: text,
    },
  };
}
