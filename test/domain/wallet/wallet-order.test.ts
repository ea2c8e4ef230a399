import {
  canonicalPriceTypes,
  defaultPriceTypes,
  prepaidWalletOrder,
  type CandidateWallet,
} from '../../../domain/wallet/wallet-order.ts';
import { block, NOW, walletOf } from './wallet-input.ts';

const candidate = (
  id: string,
  credits: string,
  over: object = {},
  more: Partial<CandidateWallet> = {},
): CandidateWallet => ({
  wallet: walletOf(credits, { id, ...over }),
  blocks: [block(`${id}-block`, credits)],
  allowed_price_types: ['USAGE'],
  created_at: '2026-01-01T00:00:00.000Z',
  ...more,
});
const order = (candidates: CandidateWallet[], currency = 'usd', periodEnd: string | null = null) =>
  prepaidWalletOrder(candidates, currency, NOW, periodEnd).map(({ id }) => id);

describe('which wallets pay up front (money 2.6.2)', () => {
  test.each`
    why                 | over                            | pays
    ${'active prepaid'} | ${{}}                           | ${true}
    ${'frozen'}         | ${{ wallet_status: 'frozen' }}  | ${false}
    ${'closed'}         | ${{ wallet_status: 'closed' }}  | ${false}
    ${'postpaid'}       | ${{ wallet_type: 'POST_PAID' }} | ${false}
    ${'other currency'} | ${{ currency: 'eur' }}          | ${false}
  `('$why: $pays', ({ over, pays }) => {
    expect(order([candidate('a', '10', over)])).toEqual(pays ? ['a'] : []);
  });

  test('one without credits that it may use is left out', () => {
    const dead = block('dead', '10', { expiry_date: '2026-02-28T00:00:00.000Z' });
    expect(
      order([candidate('empty', '0'), candidate('dead', '10', {}, { blocks: [dead] })]),
    ).toEqual([]);
    expect(
      order([candidate('dead', '10', {}, { blocks: [dead] })], 'usd', '2026-02-28T00:00:00.000Z'),
    ).toEqual(['dead']);
  });
});

describe('their order', () => {
  test('the fuller first, in money', () => {
    expect(
      order([
        candidate('small', '10'),
        candidate('credits', '100', { conversion_rate: '0.05' }),
        candidate('big', '20'),
      ]),
    ).toEqual(['big', 'small', 'credits']);
  });

  test('then the older, then the id', () => {
    expect(
      order([
        candidate('c', '10', {}, { created_at: '2026-01-02T00:00:00.000Z' }),
        candidate('b', '10', {}, { created_at: '2026-01-01T00:00:00.000Z' }),
        candidate('a', '10', {}, { created_at: '2026-01-02T00:00:00.000Z' }),
      ]),
    ).toEqual(['b', 'a', 'c']);
    expect(order([candidate('a', '10'), candidate('b', '10')])).toEqual(['a', 'b']);
    expect(order([candidate('b', '10'), candidate('a', '10')])).toEqual(['a', 'b']);
  });

  test('what each brings to the invoice', () => {
    expect(
      prepaidWalletOrder(
        [candidate('a', '10', { conversion_rate: '2' }, { allowed_price_types: ['ALL'] })],
        'usd',
        NOW,
        null,
      ),
    ).toEqual([
      { id: 'a', credits_available: '10', conversion_rate: '2', allowed_price_types: ['ALL'] },
    ]);
  });
});

describe('allowed price types (money 2.1.6)', () => {
  test('by default', () => {
    expect(defaultPriceTypes('PRE_PAID')).toEqual(['USAGE']);
    expect(defaultPriceTypes('POST_PAID')).toEqual(['ALL']);
  });
  test.each`
    given                 | canonical
    ${null}               | ${['ALL']}
    ${[]}                 | ${['ALL']}
    ${['ALL']}            | ${['ALL']}
    ${['ALL', 'USAGE']}   | ${['ALL']}
    ${['USAGE', 'FIXED']} | ${['ALL']}
    ${['FIXED', 'USAGE']} | ${['ALL']}
    ${['USAGE']}          | ${['USAGE']}
    ${['FIXED']}          | ${['FIXED']}
    ${['USAGE', 'USAGE']} | ${['USAGE']}
  `('$given is $canonical', ({ given, canonical }) => {
    expect(canonicalPriceTypes(given)).toEqual(canonical);
  });
});
