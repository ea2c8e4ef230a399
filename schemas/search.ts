import { z } from 'zod';
import { refused } from './not-offered.ts';
import {
  decimal,
  integer,
  optionalChoice,
  optionalOneOf,
  pairs,
  status,
  STATUSES,
  text,
  time,
} from './primitives.ts';

/** How the values of a field compare, and which key of a filter's `value` holds them. */
export type FieldKind = 'text' | 'number' | 'time' | 'boolean';

export const FILTER_OPERATORS = [
  'eq', 'contains', 'not_contains', 'gt', 'lt', 'gte', 'lte', 'in', 'not_in', 'before', 'after',
] as const; // prettier-ignore
export type FilterOperator = (typeof FILTER_OPERATORS)[number];

/** What a search of one resource accepts. Other names are refused or ignored. */
export interface SearchSpec<Filters extends z.core.$ZodLooseShape> {
  /** Columns that `sort` and `filters` accept. */
  readonly fields: Readonly<Record<string, FieldKind>>;
  /** Names that `expand` accepts. */
  readonly expand?: readonly string[];
  /** Values of the filter `status`, if it is a status of its own and not that of the record. */
  readonly statuses?: readonly [string, ...string[]];
  /** The records have no status that could differ: the filter is refused. */
  readonly withoutStatus?: true;
  /** The resource's own filters, defined once for bodies and query strings. */
  filters(kind: FilterKinds): Filters;
  /** Two own filters that mean something only together: one without the other is refused (money 2.12.5). */
  readonly together?: readonly [string, string];
  /** The common fields where older clients send them; top-level fields take precedence. */
  older?(value: Readonly<Record<string, unknown>>): Partial<CommonFields>;
}

/** The same filter as a field of a JSON body and as a query parameter. */
export interface FilterKinds {
  text(): z.ZodType<string | null | undefined>;
  /** In a body an array; in a query a repeated parameter or comma-separated values. */
  list<Item extends z.ZodType<string>>(item?: Item): z.ZodType<z.output<Item>[] | null | undefined>;
  oneOf<const Values extends readonly string[]>(
    values: Values,
  ): z.ZodType<Values[number] | null | undefined>;
  time(): z.ZodType<string | null | undefined>;
  decimal(): z.ZodType<string | null | undefined>;
  integer(): z.ZodType<number | null | undefined>;
  boolean(): z.ZodType<boolean | null | undefined>;
  /** Keys and values that a record's metadata must all have; in a query an object as JSON. */
  metadata(): z.ZodType<Record<string, string> | null | undefined>;
}

/** A parsed search for SQL: bounds checked, names known, forms unified. */
export interface Search {
  readonly limit: number;
  readonly offset: number;
  readonly sort: readonly SortTerm[];
  readonly filters: readonly FieldFilter[];
  readonly expand: ReadonlySet<string>;
  readonly status: (typeof STATUS_VALUES)[number] | null;
  /** Bounds of `created_at`, half-open. */
  readonly start_time: string | null;
  readonly end_time: string | null;
}
const STATUS_VALUES = status.options;

export interface SortTerm {
  readonly field: string;
  readonly kind: FieldKind;
  readonly direction: 'asc' | 'desc';
}

export interface FieldFilter {
  readonly field: string;
  readonly kind: FieldKind;
  readonly operator: FilterOperator;
  /** One value, or several for `in` and `not_in`. Times are UTC text, numbers decimal text. */
  readonly values: readonly (string | boolean)[];
}

export const LIMIT_DEFAULT = 50;
export const LIMIT_MAX = 1000;
/** Skipping rows costs as much as reading them (tenancy S18). */
export const OFFSET_MAX = 100_000;

const DIRECTIONS = ['asc', 'desc'] as const;
const SortDirection = z.enum(DIRECTIONS);
const SortElement = z.object({
  field: text(),
  direction: optionalChoice(SortDirection).transform((direction) => direction ?? 'desc'),
});
const FilterValue = z.object({
  string: text(10_000).nullish(),
  number: z.union([z.number(), text(100)]).nullish(),
  boolean: z.boolean().nullish(),
  date: text(64).nullish(),
  array: z
    .array(z.union([text(10_000), z.number()]))
    .max(1000)
    .nullish(),
});
const FilterElement = z.object({
  field: text(),
  operator: optionalOneOf(FILTER_OPERATORS),
  data_type: optionalOneOf(['string', 'number', 'date', 'array', 'boolean']),
  value: FilterValue,
});

const limit = z.int().min(1).max(LIMIT_MAX);
const offset = z
  .int()
  .min(0)
  .max(
    OFFSET_MAX,
    `is at most ${OFFSET_MAX}: narrow the search, for example by start_time and end_time`,
  );

const metadataFilter = pairs(text(10_000), 50);

/** One word, comma-separated words, or a list of either. */
const expandWords = z.union([text(2_000), z.array(text(2_000)).max(100)]);

const bodyKinds: FilterKinds = {
  text: () => text(512).nullish(),
  list: (item) =>
    z
      .array(item ?? text(512))
      .max(LIMIT_MAX)
      .nullish() as never,
  oneOf: (values) => optionalOneOf(values as never) as never,
  time: () => time.nullish(),
  decimal: () => decimal.nullish(),
  integer: () => integer.nullish(),
  boolean: () => z.boolean().nullish(),
  metadata: () => metadataFilter.nullish(),
};

const split = (value: unknown): unknown =>
  typeof value === 'string' ? value.split(',').filter((part) => part !== '')
  : Array.isArray(value) ? value.flatMap((part) => String(part).split(',')).filter((part) => part !== '')
  : value; // prettier-ignore
const numeric = (value: unknown): unknown =>
  typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
const truth = (value: unknown): unknown =>
  value === 'true' ? true : value === 'false' ? false : value;
/** A parameter without a value is unset. */
const given = (value: unknown): unknown => (value === '' ? undefined : value);

/** Parses JSON; returns other text unchanged. */
const parsed = (value: unknown): unknown => {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
};

/** A query parameter with a list: repeated, or comma-separated. Without a value it is unset. */
export const commaSeparated = z.preprocess(
  (value) => split(value === '' ? undefined : value),
  z.array(text(512)).max(LIMIT_MAX).optional(),
);

const queryKinds: FilterKinds = {
  text: () => z.preprocess(given, text(512).optional()),
  list: (item) =>
    z.preprocess(
      split,
      z
        .array(item ?? text(512))
        .max(LIMIT_MAX)
        .optional(),
    ) as never,
  oneOf: (values) => z.preprocess(given, z.enum(values).optional()) as never,
  time: () => z.preprocess(given, time.optional()),
  decimal: () => z.preprocess(given, decimal.optional()),
  integer: () => z.preprocess((value) => numeric(given(value)), integer.optional()),
  boolean: () => z.preprocess((value) => truth(given(value)), z.boolean().optional()),
  metadata: () => z.preprocess((value) => parsed(given(value)), metadataFilter.optional()),
};

const noStatus = refused('has no effect on this list');

const pageParameters = {
  limit: z.preprocess((value) => numeric(given(value)), limit.optional()),
  offset: z.preprocess((value) => numeric(given(value)), offset.optional()),
};

/**
 * The body of `POST /<resource>/search` and the query of `GET /<resource>`. Both parse to the
 * resource's own filters plus a `search`. `sort` is an array of `{field, direction}`, or a field's name
 * together with `order`. Unknown sort fields, filter fields, operators and expands are refused; the error
 * lists the valid ones.
 */
export function searchSchemas<Filters extends z.core.$ZodLooseShape>(spec: SearchSpec<Filters>) {
  const body = z.object({
    ...spec.filters(bodyKinds),
    limit: limit.nullish(),
    offset: offset.nullish(),
    sort: z.union([text(), z.array(SortElement).max(10)]).nullish(),
    order: optionalOneOf(DIRECTIONS),
    filters: z.array(FilterElement).max(50).nullish(),
    expand: expandWords.nullish(),
    status: spec.withoutStatus ? noStatus : optionalOneOf(spec.statuses ?? STATUSES),
    start_time: time.nullish(),
    end_time: time.nullish(),
  });
  const query = z.object({
    ...spec.filters(queryKinds),
    ...pageParameters,
    sort: z.preprocess(given, text().optional()),
    order: z.preprocess(given, SortDirection.optional()),
    expand: z.preprocess(given, expandWords.optional()),
    status: spec.withoutStatus
      ? noStatus
      : z.preprocess(given, z.enum(spec.statuses ?? STATUSES).optional()),
    start_time: z.preprocess(given, time.optional()),
    end_time: z.preprocess(given, time.optional()),
  });
  return {
    body: body.transform((value, context) => withSearch(spec, value, context)),
    query: query.transform((value, context) => withSearch(spec, value, context)),
  };
}

/** The query of a route for one record: `expand`, and the fields of the route. */
export function expandQuery<Fields extends z.core.$ZodLooseShape>(
  expand: readonly string[],
  fields: Fields = {} as Fields,
) {
  return z
    .object({ expand: expandWords.optional(), ...fields })
    .transform((value, context) =>
      withSearch({ fields: {}, expand, filters: () => ({}) }, value, context),
    );
}

/** The query of a list below one record: a page, newest or soonest first, without filters. */
export const PageQuery = z.object(pageParameters);
export type PageQuery = z.output<typeof PageQuery>;

/** The common fields of a search in nested objects, as clients of costsheets send them. */
export const nestedFields = {
  queryFilter: z
    .object({
      limit: limit.nullish(),
      offset: offset.nullish(),
      sort: text().nullish(),
      order: optionalOneOf(DIRECTIONS),
      expand: text(2_000).nullish(),
      status: optionalOneOf(STATUSES),
    })
    .nullish(),
  timeRangeFilter: z.object({ start_time: time.nullish(), end_time: time.nullish() }).nullish(),
};

interface CommonFields {
  limit?: number | null;
  offset?: number | null;
  sort?: z.output<typeof SortElement>[] | string | null;
  order?: 'asc' | 'desc' | null;
  filters?: z.output<typeof FilterElement>[] | null;
  expand?: string | string[] | null;
  status?: string | null;
  start_time?: string | null;
  end_time?: string | null;
}

type Complain = (path: PropertyKey[], message: string) => void;

function withSearch<Value extends Record<string, unknown>>(
  spec: SearchSpec<z.core.$ZodLooseShape>,
  value: Value,
  context: z.core.$RefinementCtx,
): Value & { search: Search } {
  const complain: Complain = (path, message) =>
    context.issues.push({ code: 'custom', path, message, input: value });
  for (const [filter, other] of spec.together ? bothWays(spec.together) : [])
    if (value[filter] && !value[other]) complain([other], `is required with ${filter}`);
  const sent: CommonFields = { ...spec.older?.(value), ...present(value) };
  const search: Search = {
    limit: sent.limit ?? LIMIT_DEFAULT,
    offset: sent.offset ?? 0,
    sort: sortTerms(spec, sent, complain),
    filters: (sent.filters ?? []).flatMap((filter, index) =>
      fieldFilter(spec, filter, index, complain),
    ),
    expand: expansions(spec, sent.expand, complain),
    status: spec.statuses === undefined ? ((sent.status as Search['status']) ?? null) : null,
    start_time: sent.start_time ?? null,
    end_time: sent.end_time ?? null,
  };
  return { ...value, search };
}

const bothWays = ([one, other]: readonly [string, string]) =>
  [
    [one, other],
    [other, one],
  ] as const;

/** The fields that were sent with a value. */
const present = (value: Readonly<Record<string, unknown>>): CommonFields =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field != null));

const namesOf = (names: readonly string[]): string => names.join(', ');

function sortTerms(
  spec: SearchSpec<z.core.$ZodLooseShape>,
  sent: CommonFields,
  complain: Complain,
): SortTerm[] {
  const terms = Array.isArray(sent.sort) ? sent.sort : [];
  if (!Array.isArray(sent.sort) && (sent.sort || sent.order))
    terms.push({ field: sent.sort || 'created_at', direction: sent.order ?? 'desc' });
  return terms.flatMap(({ field, direction }, index) => {
    const kind = Object.hasOwn(spec.fields, field) ? spec.fields[field] : undefined;
    if (kind !== undefined) return [{ field, kind, direction }];
    const path = typeof sent.sort === 'string' ? ['sort'] : ['sort', index, 'field'];
    complain(path, `"${field}" cannot be sorted by; one of: ${namesOf(Object.keys(spec.fields))}`);
    return [];
  });
}

const OPERATORS: Readonly<Record<FieldKind, readonly FilterOperator[]>> = {
  text: ['eq', 'contains', 'not_contains', 'in', 'not_in'],
  number: ['eq', 'gt', 'gte', 'lt', 'lte', 'in', 'not_in'],
  time: ['eq', 'gt', 'gte', 'lt', 'lte', 'before', 'after'],
  boolean: ['eq'],
};

function fieldFilter(
  spec: SearchSpec<z.core.$ZodLooseShape>,
  filter: z.output<typeof FilterElement>,
  index: number,
  complain: Complain,
): FieldFilter[] {
  const at = (...rest: PropertyKey[]): PropertyKey[] => ['filters', index, ...rest];
  const { field, value } = filter;
  const kind = Object.hasOwn(spec.fields, field) ? spec.fields[field] : undefined;
  if (kind === undefined) {
    const known = namesOf(Object.keys(spec.fields));
    complain(at('field'), `"${field}" cannot be filtered by; one of: ${known}`);
    return [];
  }
  const operator = filter.operator ?? (value.array == null ? 'eq' : 'in');
  if (!OPERATORS[kind].includes(operator)) {
    complain(at('operator'), `"${field}" takes one of: ${namesOf(OPERATORS[kind])}`);
    return [];
  }
  const many = operator === 'in' || operator === 'not_in';
  const raw = many ? value.array : [oneValue(kind, value)];
  if (raw == null || raw.some((item) => item == null)) {
    complain(at('value'), many ? 'expected an array' : `expected a value for a ${kind} field`);
    return [];
  }
  const values = raw.map((item) => comparable(kind, item as string | number | boolean));
  if (values.includes(null)) {
    complain(at('value'), `is not a valid value of a ${kind} field`);
    return [];
  }
  return [{ field, kind, operator, values: values as (string | boolean)[] }];
}

function oneValue(kind: FieldKind, value: z.output<typeof FilterValue>) {
  switch (kind) {
    case 'text':
      return value.string;
    case 'number':
      return value.number ?? value.string;
    case 'time':
      return value.date ?? value.string;
    case 'boolean':
      return value.boolean;
  }
}

/** The value in the form that the column compares with; null when it does not fit the kind. */
function comparable(kind: FieldKind, value: string | number | boolean): string | boolean | null {
  if (kind === 'boolean') return typeof value === 'boolean' ? value : null;
  if (kind === 'text') return String(value);
  const parsed = (kind === 'time' ? time : decimal).safeParse(value);
  return parsed.success ? parsed.data : null;
}

/**
 * Names that any search of the API, or of existing clients, expands. A name that does not apply is
 * ignored (api 38): clients send the same list of names everywhere.
 */
export const EXPAND_WORDS: ReadonlySet<string> = new Set(
  `addon addons coupon coupon_applications coupon_associations coupons created_by_user credit_grant
    credit_grants credit_note credits_available_breakdown customer customers entitlement entitlements
    feature features group groups integrations invoice line_items meter meters parent plan plans price
    price_sync_status price_unit prices priceunit schedule subscription subscription_line_item
    subscription_line_items subscriptions tax_applied tax_association tax_rate tax_rates wallet wallets`.split(
    /\s+/,
  ),
);

/** `prices.meters` means the meters of the prices: both are expanded. */
function expansions(
  spec: SearchSpec<z.core.$ZodLooseShape>,
  expand: string | string[] | null | undefined,
  complain: Complain,
): ReadonlySet<string> {
  const known = spec.expand ?? [];
  const paths = (typeof expand === 'string' ? [expand] : (expand ?? []))
    .flatMap((entry) => entry.split(','))
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  const names = (path: string): string[] => (known.includes(path) ? [path] : path.split('.'));
  const isName = (name: string): boolean => known.includes(name) || EXPAND_WORDS.has(name);
  for (const path of paths)
    if (!names(path).every(isName))
      complain(
        ['expand'],
        `"${path}" cannot be expanded; ${known.length === 0 ? 'nothing can' : `one of: ${namesOf(known)}`}`,
      );
  return new Set(paths.flatMap(names).filter((name) => known.includes(name)));
}

/** `pagination.offset` is the offset of the next page (specification, endpoint rule 4). */
export const Pagination = z
  .object({ total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'Pagination' });

/** The answer of every list. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), pagination: Pagination });

export interface Page<Item> {
  readonly items: Item[];
  readonly pagination: z.infer<typeof Pagination>;
}
