import { decimal } from '../../../domain/money.ts';
import { partOfDebit } from '../../../domain/wallet/part-of-debit.ts';

const taken = [
  { credit_transaction_id: 'a', credits: '30' },
  { credit_transaction_id: 'b', credits: '10' },
];

describe('the part of a debit of 30 from a, then 10 from b', () => {
  test.each`
    returned | credits | parts
    ${'0'}   | ${'5'}  | ${['b 5']}
    ${'0'}   | ${'10'} | ${['b 10']}
    ${'0'}   | ${'15'} | ${['b 10', 'a 5']}
    ${'5'}   | ${'10'} | ${['b 5', 'a 5']}
    ${'15'}  | ${'25'} | ${['a 25']}
    ${'15'}  | ${'99'} | ${['a 25']}
    ${'40'}  | ${'1'}  | ${[]}
  `('$credits after $returned: $parts', ({ returned, credits, parts }) => {
    expect(
      partOfDebit(taken, decimal(returned), decimal(credits)).map(
        (part) => `${part.credit_transaction_id} ${part.credits}`,
      ),
    ).toEqual(parts);
  });
});
