import { apiDocument } from '../../../api/app.ts';
import { startTestApi, type TestApi, type TestAnswer } from '../../support/api.ts';
import { commonRecords, customerRecords, type Records } from '../../support/reference-records.ts';
import { NAMINGS, type Naming } from './bodies.ts';
import {
  ALWAYS_REFUSED,
  ANY_TEXT,
  BETWEEN_CUSTOMERS,
  isReference,
  NO_RECORDS,
  READING,
  TENANT_WIDE,
} from './fields.ts';

/**
 * Each field of a request body that names a record refuses the record of another tenant, of another environment and,
 * where the request is about one customer, of another customer; and nothing is written. The fields are those of the
 * OpenAPI document: a new one fails here until a request in `bodies.ts` names a record in it, or `fields.ts` says
 * why it names none.
 */

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly propertyNames?: Schema;
  readonly $ref?: string;
}
interface Operation {
  readonly requestBody?: { content: { 'application/json'?: { schema: Schema } } };
}
const document = apiDocument() as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};

/** Paths of the texts in a body: `items[].plan_id`, `line_item_coupons.*[]`; the keys of a map: `….*{}`. */
function texts(schema: Schema, path = '', within: readonly string[] = []): string[] {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1)!;
    if (within.includes(name)) return [];
    return texts(document.components.schemas[name] ?? {}, path, [...within, name]);
  }
  const below = (inner: Schema, at: string) => texts(inner, at, within);
  const values = schema.additionalProperties;
  return [
    ...(schema.type === 'string' && schema.enum === undefined ? [path] : []),
    ...[schema.anyOf, schema.oneOf, schema.allOf].flatMap((forms) =>
      (forms ?? []).flatMap((form) => below(form, path)),
    ),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
      below(inner, path === '' ? name : `${path}.${name}`),
    ),
    ...(schema.items === undefined ? [] : below(schema.items, `${path}[]`)),
    ...(typeof values === 'object' ? [`${path}.*{}`, ...below(values, `${path}.*`)] : []),
  ];
}

const WRITING = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .map(([method, operation]) => ({
      route: `${method.toUpperCase()} ${path}`,
      schema: operation.requestBody?.content['application/json']?.schema,
    }))
    .filter(({ route, schema }) => schema !== undefined && !READING.test(route)),
);
const FIELDS = WRITING.flatMap(({ route, schema }) =>
  [...new Set(texts(schema!))].map((path) => `${route} ${path}`),
);

/** A place in a body at which a record of the caller is named. */
interface Place {
  readonly route: string;
  /** As in the document. */
  readonly path: string;
  readonly kind: string;
  /** The request, with another record at this place. */
  request(foreign: string): { readonly url: string; readonly body: object };
  /** Whether the request names another record of the customer. */
  readonly isOfCustomer: boolean;
}

/** Every text in a value, with its path, and the value with another text there. */
function* leaves(
  value: unknown,
  path: string,
): Generator<{ path: string; text: string; replaced(text: string): unknown }> {
  if (typeof value === 'string') yield { path, text: value, replaced: (text) => text };
  else if (Array.isArray(value))
    for (const [index, item] of value.entries())
      for (const leaf of leaves(item, `${path}[]`))
        yield { ...leaf, replaced: (text) => value.with(index, leaf.replaced(text)) };
  else if (typeof value === 'object' && value !== null)
    for (const [key, item] of Object.entries(value)) {
      const isId = /_[0-9A-HJKMNP-TV-Z]{26}$/.test(key);
      const at = isId ? `${path}.*` : path === '' ? key : `${path}.${key}`;
      const { [key]: _, ...others } = value as Record<string, unknown>;
      if (isId)
        yield { path: `${at}{}`, text: key, replaced: (text) => ({ ...others, [text]: item }) };
      for (const leaf of leaves(item, at))
        yield { ...leaf, replaced: (text) => ({ ...value, [key]: leaf.replaced(text) }) };
    }
}

/** The url with the method's path of the route, unless the request says another. */
const urlOf = (naming: Naming, own: Records): string => {
  const [, template] = naming.route.split(' ') as [string, string];
  const path = naming.path?.(own) ?? template;
  // A preview goes to the same record as the change itself.
  const last = template.split('/').at(-1)!;
  return `/v1${last === 'preview' ? path.replace(/\/execute$/, '/preview') : path}`;
};

function placesOf(naming: Naming, own: Records, customers: Records): Place[] {
  const kinds = new Map(Object.entries(own).map(([kind, id]) => [id, kind]));
  const url = urlOf(naming, own);
  const ofCustomer = new Set(Object.values(customers));
  const found = [...leaves(naming.body(own), '')].filter(({ text }) => kinds.has(text));
  const inPath = [...ofCustomer].some((id) => url.includes(id));
  return found.map(({ path, text }, index) => ({
    route: naming.route,
    path,
    kind: kinds.get(text)!,
    request: (foreign) => {
      // Built again, because some texts are new in every request.
      const again = [...leaves(naming.body(own), '')].filter((leaf) => kinds.has(leaf.text));
      return { url, body: again[index]!.replaced(foreign) as object };
    },
    isOfCustomer:
      inPath || found.some((other) => other.text !== text && ofCustomer.has(other.text)),
  }));
}

describe('records named in bodies', () => {
  let api: TestApi;
  let own: Records;
  let places: Place[];
  let portal: Record<string, string>;
  let foreign: Record<'another tenant' | 'another environment' | 'another customer', Records>;
  beforeAll(async () => {
    api = await startTestApi();
    const common = await commonRecords(api, api);
    const customers = await customerRecords(api, api, common);
    const elsewhere = async (inTenantOf?: TestApi) => {
      const caller = await api.newCaller(inTenantOf === undefined ? {} : { inTenantOf });
      const records = await commonRecords(api, caller);
      return { ...records, ...(await customerRecords(api, caller, records)) };
    };
    const other = await customerRecords(api, api, common);
    foreign = {
      'another tenant': await elsewhere(),
      'another environment': await elsewhere(api),
      'another customer': {
        ...other,
        // Copies of catalog records that belong to the subscription of the other customer.
        price: other['subscriptionPrice']!,
        otherPrice: other['subscriptionPrice']!,
        entitlement: other['subscriptionEntitlement']!,
      },
    };
    own = { ...common, ...customers };
    places = NAMINGS.flatMap((naming) => placesOf(naming, own, customers));
    const { body } = await api.get(`/v1/customers/portal/${own['externalCustomer']}`);
    portal = { 'x-api-key': '', 'x-session-token': body.token };
  });
  afterAll(() => api.close());

  const send = (route: string, url: string, body: object): Promise<TestAnswer> =>
    api.call(route.split(' ')[0]!, url, body, url.includes('/customer/portal/') ? portal : {});

  /** Rows of every table except those of the requests themselves. */
  async function written(): Promise<string> {
    const tables = await api.pool<{ name: string }[]>`
      select tablename as name from pg_tables
       where schemaname = 'public' and tablename not in ('request_logs', 'api_keys')
       order by 1`;
    const counts = tables.map(({ name }) => `select '${name}' as name, count(*) from "${name}"`);
    return JSON.stringify(await api.pool.unsafe(counts.join(' union all ')));
  }

  test('every field of the document is sent with a record, or names none', () => {
    const sent = new Set(places.map(({ route, path }) => `${route} ${path}`));
    const missing = FIELDS.filter((field) => isReference(field) && !sent.has(field));
    expect(missing).toEqual([]);
  });

  test('every field that is said to name no record is in the document, and no record is sent in it', () => {
    const sent = new Set(places.map(({ route, path }) => `${route} ${path}`));
    const stale = Object.keys(NO_RECORDS).filter(
      (path) => !FIELDS.some((field) => field.endsWith(path) && !sent.has(field)),
    );
    expect(stale).toEqual([]);
  });

  test.each(['another tenant', 'another environment', 'another customer'] as const)(
    'the record of %s is refused, and nothing is written',
    async (whose) => {
      const faults: string[] = [];
      let before = await written();
      for (const place of places) {
        const id = foreign[whose][place.kind];
        const name = `${place.route} ${place.path} (${place.kind})`;
        if (id === undefined) continue;
        if (!isRefused(whose, place, name)) continue;
        const { url, body } = place.request(id);
        const answer = await send(place.route, url, body);
        if (answer.status !== 400 && answer.status !== 404)
          faults.push(`${name}: ${answer.status} ${messageOf(answer)}`);
        else if (!names(answer, place, id, whose === 'another customer' ? body : {}))
          faults.push(`${name}: is not named: ${messageOf(answer)}`);
        const after = await written();
        if (after !== before) faults.push(`${name}: something is written`);
        before = after;
      }
      expect(faults).toEqual([]);
    },
  );

  test('with records of the caller the same requests are accepted', async () => {
    const refused: string[] = [];
    for (const naming of NAMINGS) {
      const accepts = (records: Records): Promise<TestAnswer> =>
        send(naming.route, urlOf(naming, records), naming.body(records));
      let answer = await accepts(own);
      // An earlier request may have changed the records of the customer.
      if (answer.status >= 300)
        answer = await accepts({ ...own, ...(await customerRecords(api, api, own)) });
      if (answer.status >= 300 && !ALWAYS_REFUSED.has(naming.route))
        refused.push(
          `${naming.route} ${JSON.stringify(naming.body(own))}: ${answer.status} ${messageOf(answer)}`,
        );
    }
    expect(refused).toEqual([]);
  });
});

function isRefused(whose: string, place: Place, name: string): boolean {
  if (whose === 'another customer') return place.isOfCustomer && !BETWEEN_CUSTOMERS.test(name);
  return !ANY_TEXT.test(name) && !(whose === 'another environment' && TENANT_WIDE.test(name));
}

/**
 * Whether the refusal names the record or its field. Of two records that do not fit together it may name the other one,
 * which is in `beside`.
 */
function names({ body }: TestAnswer, place: Place, id: string, beside: object): boolean {
  const paths = ((body.details ?? []) as { path: string }[]).map(({ path }) => path);
  const fields = [place.path.split(/[.[]/)[0]!, ...Object.keys(beside)];
  const ids = [...leaves(beside, '')].map(({ text }) => text).filter((text) => text.includes('_'));
  return (
    paths.some((path) => fields.some((field) => path.startsWith(field))) ||
    [id, ...ids].some((text) => String(body.message).includes(text))
  );
}

const messageOf = ({ body }: TestAnswer): string => String(body?.message ?? body?.id).slice(0, 300);
