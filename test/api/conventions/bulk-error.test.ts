import { above, below } from '../../../api/conventions/bulk-error.ts';
import { BillingError } from '../../../domain/errors.ts';

/** A refusal that is reported for another body keeps all but the paths of its fields. */
describe('refusals of a part of a body', () => {
  const refusal = (path: string) =>
    new BillingError(
      'unavailable',
      'service_unavailable',
      `${path}: cannot be read now`,
      [{ path, code: 'service_unavailable', message: 'cannot be read now' }],
      3,
      7,
    );

  test.each([
    ['below an item', below(refusal('amount'), 'items[2]'), 'items[2].amount'],
    ['above a field', above(refusal('auto_topup.amount'), 'auto_topup'), 'amount'],
  ])('%s: code, count and Retry-After stay', (_, moved, path) => {
    expect(moved).toMatchObject({
      kind: 'unavailable',
      code: 'service_unavailable',
      message: `${path}: cannot be read now`,
      details: [{ path }],
      error_count: 3,
      retryAfterSeconds: 7,
    });
  });

  test('below an item: a refusal without a field names the item', () => {
    expect(
      below(new BillingError('conflict', 'conflict', 'It has changed.'), 'items[0]'),
    ).toMatchObject({
      message: 'items[0]: It has changed.',
      details: [{ path: 'items[0]' }],
    });
  });

  test('an error that is no refusal stays as it is', () => {
    const error = new Error('lost');
    expect([below(error, 'items[0]'), above(error, 'auto_topup')]).toEqual([error, error]);
  });
});
