import { lineQuantity } from '../../../domain/pricing/line-quantity.ts';
import { refusalOf } from '../../support/refusal.ts';
import { fixed, flat } from './lines.ts';

describe('the quantity of a new line item (2.3)', () => {
  test.each`
    minimum | requested    | quantity
    ${null} | ${undefined} | ${'1'}
    ${null} | ${null}      | ${'1'}
    ${'5'}  | ${undefined} | ${'5'}
    ${'0'}  | ${undefined} | ${'0'}
    ${null} | ${'0'}       | ${'0'}
    ${'5'}  | ${'0'}       | ${'0'}
    ${'5'}  | ${0}         | ${'0'}
    ${null} | ${'2.5'}     | ${'2.5'}
    ${'5'}  | ${'5'}       | ${'5'}
    ${'5'}  | ${'5.1'}     | ${'5.1'}
    ${null} | ${3}         | ${'3'}
    ${'5'}  | ${7}         | ${'7'}
  `('FIXED, minimum $minimum, $requested asked for: $quantity', (row) => {
    const price = fixed('1', { min_quantity: row.minimum });
    expect(lineQuantity(price, row.requested).toFixed()).toBe(row.quantity);
  });

  test.each`
    minimum | requested  | code
    ${'5'}  | ${'4.999'} | ${'below_min_quantity'}
    ${'5'}  | ${1}       | ${'below_min_quantity'}
    ${null} | ${'-1'}    | ${'negative_quantity'}
    ${'5'}  | ${'-1'}    | ${'negative_quantity'}
    ${null} | ${'many'}  | ${'invalid_value'}
  `('FIXED, minimum $minimum, $requested: refused, $code', ({ minimum, requested, code }) => {
    const price = fixed('1', { min_quantity: minimum });
    const refusal = refusalOf(() => lineQuantity(price, requested, 'line_items[2].quantity'));
    expect(refusal).toMatchObject({ kind: 'invalid', code: 'validation_error' });
    expect(refusal.details).toEqual([
      { path: 'line_items[2].quantity', code, message: expect.any(String) },
    ]);
  });

  test('the minimum is named', () => {
    const price = fixed('1', { min_quantity: '5' });
    expect(refusalOf(() => lineQuantity(price, '2')).message).toBe(
      "quantity: must be 0 or at least the price's minimum of 5",
    );
  });

  test('so is the reason of every other refusal', () => {
    expect(refusalOf(() => lineQuantity(fixed('1'), '-1')).message).toBe(
      'quantity: must not be negative',
    );
    expect(refusalOf(() => lineQuantity(flat('1'), '1')).message).toBe(
      'quantity: a USAGE line measures its quantity',
    );
  });

  test('USAGE stores 0 and refuses another', () => {
    expect(lineQuantity(flat('1'), undefined).toFixed()).toBe('0');
    expect(lineQuantity(flat('1'), null).toFixed()).toBe('0');
    expect(lineQuantity(flat('1'), '0').toFixed()).toBe('0');
    const refusal = refusalOf(() => lineQuantity(flat('1'), '3'));
    expect(refusal.details[0]).toMatchObject({ path: 'quantity', code: 'quantity_on_usage' });
  });
});
