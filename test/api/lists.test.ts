import { apiDocument } from '../../api/app.ts';

interface Operation {
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
}
const { paths } = apiDocument() as { paths: Record<string, { get?: Operation }> };
const parametersOf = (path: string): string[] | null =>
  paths[path]?.get?.parameters.filter((each) => each.in === 'query').map(({ name }) => name) ??
  null;

const COMMON = ['limit', 'offset', 'status', 'sort', 'order', 'start_time', 'end_time', 'expand'];

/** Lists by GET, each with the filters of its own (endpoints; shapes, the filter of the search). */
describe.each`
  path                       | filters
  ${'/plans'}                | ${['plan_ids', 'lookup_key', 'metadata']}
  ${'/prices'}               | ${['plan_ids', 'price_ids', 'entity_type', 'entity_ids', 'meter_ids', 'parent_price_id', 'subscription_id', 'billing_periods', 'start_date_lt', 'allow_expired_prices']}
  ${'/prices/units'}         | ${[]}
  ${'/meters'}               | ${['meter_ids', 'event_name']}
  ${'/features'}             | ${['feature_ids', 'lookup_key', 'lookup_keys', 'meter_ids', 'name_contains']}
  ${'/entitlements'}         | ${['plan_ids', 'feature_ids', 'feature_type', 'is_enabled', 'entity_type', 'entity_ids', 'has_grant_config']}
  ${'/addons'}               | ${['addon_ids', 'lookup_keys']}
  ${'/creditgrants'}         | ${['plan_ids', 'subscription_ids', 'scope']}
  ${'/coupons'}              | ${['coupon_ids', 'coupon_codes']}
  ${'/coupons/associations'} | ${['subscription_ids', 'coupon_ids', 'active_only']}
  ${'/taxes/rates'}          | ${['taxrate_ids', 'taxrate_codes', 'scope']}
  ${'/taxes/associations'}   | ${['entity_type', 'entity_id', 'external_customer_id', 'tax_rate_id']}
  ${'/customers'}            | ${['customer_ids', 'external_ids', 'external_id', 'email', 'metadata']}
  ${'/environments'}         | ${[]}
  ${'/secrets/api/keys'}     | ${[]}
`('GET $path', ({ path, filters }: { path: string; filters: string[] }) => {
  test.each([...COMMON, ...filters])('takes %s', (name) => {
    expect(parametersOf(path)).toContain(name);
  });
});

interface Body {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, object>>;
}
type Searching = { post?: { requestBody: { content: Record<string, { schema: Body }> } } };

test('what a search takes in its body, the list by GET takes in its query', () => {
  const lists = Object.keys(paths).filter(
    (path) => paths[path]!.get !== undefined && paths[`${path}/search`] !== undefined,
  );
  const missing = lists.flatMap((path) => {
    const { schema } = (paths[`${path}/search`] as Searching).post!.requestBody.content[
      'application/json'
    ]!;
    const fields = Object.keys(schema.properties ?? {}).filter((field) => field !== 'filters');
    const taken = parametersOf(path)!;
    const withoutStatus = COMMON.filter((name) => name !== 'status');
    expect(fields).toEqual(
      expect.arrayContaining(taken.includes('status') ? COMMON : withoutStatus),
    );
    return fields.filter((field) => !taken.includes(field)).map((field) => `${path} ${field}`);
  });
  expect(lists.length).toBeGreaterThan(8);
  expect(missing).toEqual([]);
});

/** Lists of the caller's own records. */
const OWN = ['/users/me/', '/customer/portal/'];
/** Lists by GET in the specification (endpoint rule 11), and the one whose search is `/events/query`. */
const BY_GET = ['/subscriptions/schedules', '/v1/subscription-schedules', '/events'];

test('every list is a POST search too (specification, conventions 5)', () => {
  const lists = Object.keys(paths).filter(
    (path) =>
      parametersOf(path)?.includes('sort') === true &&
      !path.includes('{') &&
      !BY_GET.includes(path) &&
      !OWN.some((prefix) => path.startsWith(prefix)),
  );
  expect(lists.length).toBeGreaterThan(25);
  expect(lists.filter((path) => paths[`${path}/search`] === undefined)).toEqual([]);
});

test('what answers with a pagination is paged by limit and offset', () => {
  interface Answered {
    readonly responses: Record<string, { content?: Record<string, { schema: Body }> }>;
  }
  const paged = Object.keys(paths).filter((path) => {
    const operation = paths[path]!.get as (Operation & Answered) | undefined;
    const schema = operation?.responses['200']?.content?.['application/json']?.schema;
    return schema?.properties?.['pagination'] !== undefined;
  });
  expect(paged.length).toBeGreaterThan(30);
  const whole = paged.filter((path) =>
    ['limit', 'offset'].some((name) => !parametersOf(path)!.includes(name)),
  );
  expect(whole).toEqual([]);
});
