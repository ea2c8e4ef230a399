import { z } from 'zod';
import { emptyTextsOf } from '../../../platform/http/empty-texts.ts';
import { emptyWhenUnset, textOrEmpty } from '../../../schemas/primitives.ts';

const Child = z.object({ city: textOrEmpty, note: z.string().nullable() });
const Answer = z.object({
  name: z.string(),
  city: textOrEmpty,
  period: emptyWhenUnset(z.enum(['DAILY', 'MONTHLY'])),
  child: Child.nullable(),
  children: z.array(Child).optional(),
});
const NONE = { city: null, note: null };
const unset = (): object => ({
  name: 'a',
  city: null,
  period: null,
  child: NONE,
  children: [NONE],
});

describe('"" in the place of null where the schema of an answer says so', () => {
  test('at any depth, and nowhere else', () => {
    expect(emptyTextsOf(Answer)!(unset())).toEqual({
      name: 'a',
      city: '',
      period: '',
      child: { city: '', note: null },
      children: [{ city: '', note: null }],
    });
  });

  test('what the handler answered stays as it is', () => {
    const answered = unset();
    emptyTextsOf(Answer)!(answered);
    expect(answered).toEqual(unset());
  });

  test('a set text, an absent record and an absent list stay', () => {
    const set = { name: 'a', city: 'Pune', period: 'DAILY', child: null };
    expect(emptyTextsOf(Answer)!(set)).toBe(set);
  });

  test('a list as the whole answer', () => {
    expect(emptyTextsOf(z.array(Child))!([NONE])).toEqual([{ city: '', note: null }]);
  });

  test('an answer without such a text costs nothing', () => {
    expect(emptyTextsOf(z.object({ name: z.string().nullable() }))).toBeNull();
  });

  test('the filled answer follows the schema', () => {
    expect(Answer.safeParse(emptyTextsOf(Answer)!(unset())).success).toBe(true);
  });
});
