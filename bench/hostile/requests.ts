import { HOSTILE_BODIES, HOSTILE_EVENT_BODIES, HOSTILE_VALUES } from './values.ts';

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly minimum?: number;
  readonly additionalProperties?: Schema | boolean;
  readonly format?: string;
  readonly pattern?: string;
  readonly $ref?: string;
}
interface Operation {
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema: Schema;
  }[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
}
export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Records that the requests name, so that a request is refused for its hostile value and for nothing else. */
export interface Records {
  /** `/plans/{id}` → the id: the path up to and with the parameter. */
  readonly paths: Readonly<Record<string, string>>;
  /** Bodies that are accepted, by operation: `POST /plans`. */
  readonly bodies: Readonly<Record<string, object>>;
  /** A number that no request has had, for names that no two records share. */
  next(): number;
}

/** A place in a request and the value that it gets there. */
export interface HostileCase {
  /** `POST /plans` */
  readonly operation: string;
  /** `body.metadata.k`, `query limit`, `path id`, or `body` as a whole. */
  readonly field: string;
  readonly value: string;
  request(records: Records): HostileRequest;
}
export interface HostileRequest {
  readonly method: string;
  readonly url: string;
  readonly payload?: string;
  readonly contentType?: string;
}

/** One step from a body to a place in it: the key, and the container to create when the body has none there. */
interface Step {
  readonly key: string | number;
  readonly schema: Schema;
  /** The schema is one of several; the value in the body may belong to another of them. */
  readonly isChoice: boolean;
}

const DEPTH_MAX = 7;
/** A placeholder. The hostile JSON replaces it when the body is text. */
const MARK = '@@hostile@@';

/**
 * Every place of every request of the document with every hostile value, one place at a time: fields of bodies
 * at all depths, parameters of queries and paths, and bodies as a whole.
 */
export function hostileCases(document: Document): HostileCase[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      casesOf(document, method.toUpperCase(), path, operation),
    ),
  );
}

function casesOf(
  document: Document,
  method: string,
  path: string,
  operation: Operation,
): HostileCase[] {
  const name = `${method} ${path}`;
  const schemas = new Schemas(document);
  const [contentType, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const isJson = contentType === 'application/json';
  const plain = (records: Records): HostileRequest => ({
    method,
    url: urlOf(operation, path, records, schemas),
    ...(isJson
      ? { contentType, payload: JSON.stringify(bodyOf(name, content!.schema, records, schemas)) }
      : {}),
  });
  const cases: HostileCase[] = [];
  const add = (
    field: string,
    table: typeof HOSTILE_VALUES,
    request: (records: Records, json: string) => HostileRequest,
  ) => {
    for (const [value, json] of table)
      cases.push({
        operation: name,
        field,
        value,
        request: (records) => request(records, json),
      });
  };
  for (const { in: where, name: parameter } of operation.parameters) {
    if (where !== 'query' && where !== 'path') continue;
    add(`${where} ${parameter}`, HOSTILE_VALUES, (records, json) => ({
      ...plain(records),
      url: urlOf(operation, path, records, schemas, { where, parameter, json }),
    }));
  }
  if (contentType === undefined) return cases;
  if (!isJson) {
    const bodies = [...HOSTILE_BODIES, ...HOSTILE_VALUES];
    add('body', bodies, (records, payload) => ({ ...plain(records), contentType, payload }));
    return cases;
  }
  const isOfEvents = path.startsWith('/events');
  const whole = [...HOSTILE_BODIES, ...(isOfEvents ? HOSTILE_EVENT_BODIES : [])];
  add('body', whole, (records, payload) => ({ ...plain(records), payload }));
  for (const [field, steps] of schemas.placesIn(content!.schema))
    add(`body${field}`, HOSTILE_VALUES, (records, json) => ({
      ...plain(records),
      payload: JSON.stringify(
        schemas.placed(bodyOf(name, content!.schema, records, schemas), steps, records),
      ).replace(`"${MARK}"`, () => json),
    }));
  return cases;
}

function bodyOf(name: string, schema: Schema, records: Records, schemas: Schemas): unknown {
  const body = records.bodies[name] ?? schemas.smallest(schema, records);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  return withOwnNames(name, body as Record<string, unknown>, () => records.next());
}

/** The body with other values for the names that only one record may have. */
export function withOwnNames(
  operation: string,
  body: Readonly<Record<string, unknown>>,
  next: () => number,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => [
      key,
      isOwn(operation, key) ? `${String(value)}-${next()}` : value,
    ]),
  );
}

/** Fields whose values must be unique: each new record needs another value. */
const isOwn = (operation: string, key: string): boolean =>
  /^(lookup_key|coupon_code|external_id|event_id)$/.test(key) &&
  /^POST \/[a-z/]+$/.test(operation) &&
  !/search|corrections/.test(operation);

interface HostileParameter {
  readonly where: string;
  readonly parameter: string;
  readonly json: string;
}

function urlOf(
  operation: Operation,
  path: string,
  records: Records,
  schemas: Schemas,
  hostile?: HostileParameter,
): string {
  const of = (where: string, name: string) =>
    hostile?.where === where && hostile.parameter === name ? inUrl(hostile.json) : null;
  const filled = path.replace(/\{([a-z_]+)\}/g, (found, name: string, at: number) => {
    const id = records.paths[path.slice(0, at) + found];
    return of('path', name) ?? encodeURIComponent(id ?? 'none');
  });
  const query = operation.parameters.flatMap(({ in: where, name, required, schema }) => {
    if (where !== 'query') return [];
    const text =
      of('query', name) ??
      (required === true
        ? encodeURIComponent(String(schemas.smallest(schema, records, name)))
        : null);
    return text === null ? [] : [`${encodeURIComponent(name)}=${text}`];
  });
  return `/v1${filled}${query.length === 0 ? '' : `?${query.join('&')}`}`;
}

/** Servers take a line of some 16 KB. */
const URL_TEXT_MAX = 12_000;

/**
 * The text of a JSON string, or the JSON of anything else; half of a surrogate pair as the three bytes of its number.
 */
function inUrl(json: string): string {
  if (json === '"\\ud800"') return '%ED%A0%80';
  const text = json.startsWith('"') ? (JSON.parse(json) as string) : json;
  return encodeURIComponent(text.slice(0, URL_TEXT_MAX)).slice(0, URL_TEXT_MAX).replace(/%.?$/, '');
}

/** Reads the schemas of a document. */
class Schemas {
  readonly #components: Readonly<Record<string, Schema>>;

  constructor(document: Document) {
    this.#components = document.components.schemas;
  }

  /** Every place below a schema that holds a value, each once: `['.tiers[0].up_to', steps]`. */
  placesIn(root: Schema): Map<string, readonly Step[]> {
    const places = new Map<string, readonly Step[]>();
    const visit = (given: Schema, field: string, steps: readonly Step[], isChoice: boolean) => {
      const schema = this.#resolved(given);
      if (schema.anyOf !== undefined) {
        for (const option of schema.anyOf) visit(option, field, steps, schema.anyOf.length > 1);
        return;
      }
      if (!places.has(field)) places.set(field, steps);
      if (steps.length >= DEPTH_MAX) return;
      const go = (key: string | number, inner: Schema) =>
        visit(
          inner,
          typeof key === 'number' ? `${field}[${key}]` : `${field}.${key}`,
          [...steps, { key, schema, isChoice }],
          false,
        );
      for (const [key, inner] of Object.entries(schema.properties ?? {})) go(key, inner);
      if (typeof schema.additionalProperties === 'object') go('k', schema.additionalProperties);
      if (schema.items !== undefined) go(0, schema.items);
    };
    visit(root, '', [], false);
    return places;
  }

  /** The body with the mark at the end of the steps. */
  placed(body: unknown, steps: readonly Step[], records: Records): unknown {
    const [step, ...further] = steps;
    if (step === undefined) return MARK;
    const { key, schema, isChoice } = step;
    if (typeof key === 'number') {
      const [first, ...others] = Array.isArray(body) ? (body as unknown[]) : [];
      return [this.placed(first, further, records), ...others];
    }
    const isHeld = typeof body === 'object' && body !== null && !Array.isArray(body);
    const held = (isHeld && !isChoice ? body : this.smallest(schema, records)) as Record<
      string,
      unknown
    >;
    return { ...held, [key]: this.placed(held[key], further, records) };
  }

  /** The least that a schema accepts, with the ids of records where fields name some. */
  smallest(given: Schema, records: Records, name = '', depth = 0): unknown {
    const schema = this.#resolved(given);
    if (depth > DEPTH_MAX) return null;
    if (schema.anyOf !== undefined)
      return this.smallest(schema.anyOf[0] ?? {}, records, name, depth + 1);
    if (schema.enum !== undefined) return schema.enum[0];
    switch (schema.type) {
      case 'object':
        return Object.fromEntries(
          (schema.required ?? []).map((key) => [
            key,
            this.smallest(schema.properties?.[key] ?? {}, records, key, depth + 1),
          ]),
        );
      case 'array':
        return Array.from({ length: Math.max(1, schema.minItems ?? 0) }, () =>
          this.smallest(schema.items ?? {}, records, name.replace(/s$/, ''), depth + 1),
        );
      case 'integer':
      case 'number':
        return Math.max(1, schema.minimum ?? 1);
      case 'boolean':
        return true;
      default:
        return textOf(schema, name, records);
    }
  }

  #resolved(schema: Schema): Schema {
    return schema.$ref === undefined
      ? schema
      : this.#resolved(this.#components[schema.$ref.split('/').at(-1)!] ?? {});
  }
}

/** Texts that a field of the name accepts. */
const TEXTS: Readonly<Record<string, string>> = {
  currency: 'usd',
  base_currency: 'usd',
  timezone: 'UTC',
  address_country: 'BE',
  external_customer_id: 'acme',
  event_name: 'call',
};

function textOf({ format, pattern }: Schema, name: string, records: Records): string {
  if (name.endsWith('_id')) {
    const id = records.paths[`/${name.slice(0, -'_id'.length)}s/{id}`];
    if (id !== undefined) return id;
  }
  if (format === 'date-time')
    return /end/.test(name) ? '2026-12-01T00:00:00Z' : '2026-11-01T00:00:00Z';
  if (format === 'date') return '2026-11-01';
  if (format === 'email' || name === 'email') return 'somebody@example.test';
  if (format === 'uri') return 'https://example.test/';
  return TEXTS[name] ?? (pattern === undefined ? 'x' : '1');
}
