import { decimal } from '../../../domain/money.ts';
import {
  assertClientKey,
  isReplay,
  transactionKey,
} from '../../../domain/wallet/transaction-key.ts';
import { refusalOf, refusalText } from '../../support/refusal.ts';

describe('keys of the system (money 2.10.4)', () => {
  const keys = [
    transactionKey.expiry('id'),
    transactionKey.termination('id'),
    transactionKey.grantApplication('id'),
    transactionKey.creditNote('id'),
    transactionKey.voidRefund('id', 1, 'block'),
    transactionKey.voidRefund('id', 2, 'block'),
    transactionKey.voidRefund('id', 1, 'other'),
    transactionKey.prepaid('id', 1, 'wallet'),
    transactionKey.prepaid('id', 2, 'wallet'),
    transactionKey.prepaid('id', 1, 'other'),
    transactionKey.negativeNet('id'),
    transactionKey.refundRetry('id'),
    transactionKey.autoTopUp('id', 'evaluation'),
  ];

  test('differ by cause', () => expect(new Set(keys).size).toBe(keys.length));
  test('are the same for the same cause', () => {
    expect(transactionKey.prepaid('inv_1', 3, 'wallet_1')).toBe('system:prepaid:inv_1:3:wallet_1');
    expect(transactionKey.expiry('wtxn_1')).toBe('system:expiry:wtxn_1');
  });
  test.each(keys)('%s is no key of a client', (key) => {
    expect(refusalText(() => assertClientKey(key))).toBe(
      'invalid validation_error idempotency_key',
    );
  });
  test.each(['', 'mine', 'System:x', 'a system:x', 'systemic'])('"%s" is', (key) => {
    expect(() => assertClientKey(key)).not.toThrow();
  });
});

describe('a key that was used (money 2.10.2)', () => {
  const stored = {
    wallet_id: 'wallet_1',
    type: 'credit',
    transaction_reason: 'FREE_CREDIT_GRANT',
    credit_amount: '10',
  } as const;
  const request = {
    wallet_id: 'wallet_1',
    type: 'credit',
    transaction_reason: 'FREE_CREDIT_GRANT',
    credits: decimal('10.00'),
  } as const;

  test('nothing stored: no replay', () => expect(isReplay(null, request)).toBe(false));
  test('the same request: a replay', () => expect(isReplay(stored, request)).toBe(true));
  test.each`
    field                   | over
    ${'wallet_id'}          | ${{ wallet_id: 'wallet_2' }}
    ${'type'}               | ${{ type: 'debit' }}
    ${'transaction_reason'} | ${{ transaction_reason: 'CREDIT_NOTE' }}
    ${'credits'}            | ${{ credits: decimal('10.01') }}
  `('another $field: 409', ({ over }) => {
    const refusal = refusalOf(() => isReplay(stored, { ...request, ...over }));
    expect([refusal.kind, refusal.code]).toEqual(['conflict', 'idempotency_key_reused']);
    expect(refusal.details[0]!.path).toBe('idempotency_key');
  });
});
