import { byText } from '../../domain/text-order.ts';

describe('texts in the order of their code units', () => {
  test.each`
    left                          | right                         | order
    ${'a'}                        | ${'b'}                        | ${-1}
    ${'b'}                        | ${'a'}                        | ${1}
    ${'a'}                        | ${'a'}                        | ${0}
    ${''}                         | ${'a'}                        | ${-1}
    ${'Z'}                        | ${'a'}                        | ${-1}
    ${'line_10'}                  | ${'line_9'}                   | ${-1}
    ${'2026-01-01T00:00:00.000Z'} | ${'2026-01-01T00:00:00.001Z'} | ${-1}
  `('$left before $right: $order', ({ left, right, order }) => {
    expect(byText(left, right)).toBe(order);
  });

  test('for sort', () => {
    expect(['b', 'a', 'c', 'a'].sort(byText)).toEqual(['a', 'a', 'b', 'c']);
  });
});
