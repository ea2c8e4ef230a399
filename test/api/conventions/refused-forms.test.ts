import { z } from 'zod';
import { parse } from '../../../platform/http/parse.ts';
import { SubscriptionEntitlementsQuery } from '../../../schemas/granted-entitlement.ts';
import { decimal, time } from '../../../schemas/primitives.ts';
import { searchSchemas } from '../../../schemas/search.ts';

const { body: Search, query: Query } = searchSchemas({
  fields: { name: 'text' },
  filters: (kind) => ({ kind: kind.oneOf(['a', 'b']), kinds: kind.list(z.enum(['a', 'b'])) }),
});
const Fields = z.object({
  price: decimal,
  at: time,
  word: z.enum(['up', 'down']).or(z.literal('')).nullish(),
  value: z.union([z.string(), z.boolean()]).optional(),
});
const fields = { price: '1', at: '2026-01-01T00:00:00Z' };

/**
 * A value that may have several forms is refused with the path and the words of the form that it comes
 * closest to (conventions: the field's path, the problem, what would be right), once.
 */
test.each([
  [Search, { sort: [{ field: 'name', direction: 'up' }] }, 'sort[0].direction', '"asc"|"desc"'],
  [Search, { sort: 5 }, 'sort', 'expected string'],
  [Search, { sort: [5] }, 'sort[0]', 'expected object'],
  [Search, { status: 'gone' }, 'status', '"published"'],
  [Search, { kind: 'c' }, 'kind', '"a"|"b"'],
  [Search, { expand: 'x' }, 'expand', 'nothing can'],
  [Fields, { ...fields, word: 'left' }, 'word', '"up"|"down"'],
  [Fields, { ...fields, value: {} }, 'value', 'expected string'],
  [Fields, { ...fields, price: {} }, 'price', 'expected a decimal as text'],
  [Fields, { ...fields, at: 'yesterday' }, 'at', 'expected a time'],
  [Fields, { ...fields, at: '1800-01-01T00:00:00Z' }, 'at', 'is out of range'],
  [Fields, { at: fields.at }, 'price', 'is required'],
  [Query, { kinds: 'c' }, 'kinds[0]', '"a"|"b"'],
  [Query, { kinds: ['a', 'c'] }, 'kinds[1]', '"a"|"b"'],
])('%# %j', (schema, value, path, words) => {
  let refusal: unknown;
  try {
    parse(schema, value, 'body');
  } catch (error) {
    refusal = error;
  }
  const message = expect.stringContaining(words);
  expect(refusal).toMatchObject({ code: 'validation_error', details: [{ path, message }] });
});

test('an empty text and a list without values have no effect', () => {
  const { feature_ids } = parse(SubscriptionEntitlementsQuery, { feature_ids: '' }, 'query');
  expect(feature_ids).toBeUndefined();
  const { search } = parse(Search, { status: '', order: '', kind: '', sort: '' }, 'body');
  expect(search).toMatchObject({ status: null, sort: [] });
});
