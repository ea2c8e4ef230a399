import { SUBSCRIPTION_STATUSES } from '../../../schemas/words.ts';
import {
  assertPlanChangeable,
  changeType,
  pairLines,
  type ChangeableSubscription,
  type ServicePrice,
} from '../../../domain/subscription/plan-change.ts';
import { refusalOf, refusalText } from '../../support/refusal.ts';

const subscription = (over: Partial<ChangeableSubscription> = {}): ChangeableSubscription => ({
  plan_id: 'plan_1',
  currency: 'usd',
  subscription_status: 'active',
  subscription_type: 'standalone',
  active_pause_id: null,
  has_phases: false,
  has_pending_cancellation: false,
  has_pending_checkout: false,
  ...over,
});

describe('what may change its plan (billing 14.2)', () => {
  test.each(SUBSCRIPTION_STATUSES)('a %s one', (subscription_status) => {
    const attempt = () => assertPlanChangeable(subscription({ subscription_status }), 'plan_2');
    if (subscription_status === 'active' || subscription_status === 'trialing') {
      expect(attempt).not.toThrow();
    } else {
      expect(refusalOf(attempt).message).toContain(subscription_status);
      expect(refusalOf(attempt).details[0]!.path).toBe('subscription_status');
    }
  });

  test.each`
    why                     | over                                  | target      | refusal
    ${'the same plan'}      | ${{}}                                 | ${'plan_1'} | ${'invalid validation_error target_plan_id'}
    ${'a parent'}           | ${{ subscription_type: 'parent' }}    | ${'plan_2'} | ${'invalid invalid_operation subscription_type'}
    ${'an inherited one'}   | ${{ subscription_type: 'inherited' }} | ${'plan_2'} | ${'invalid invalid_operation subscription_type'}
    ${'about to be paused'} | ${{ active_pause_id: 'pause_1' }}     | ${'plan_2'} | ${'invalid invalid_operation pause_status'}
    ${'with phases'}        | ${{ has_phases: true }}               | ${'plan_2'} | ${'invalid invalid_operation phases'}
    ${'about to end'}       | ${{ has_pending_cancellation: true }} | ${'plan_2'} | ${'invalid invalid_operation cancel_at'}
    ${'being paid for'}     | ${{ has_pending_checkout: true }}     | ${'plan_2'} | ${'conflict checkout_in_progress target_plan_id'}
  `('not $why', ({ over, target, refusal }) => {
    expect(refusalText(() => assertPlanChangeable(subscription(over), target))).toBe(refusal);
  });
});

test('a checkout in progress names the field', () => {
  const attempt = () =>
    assertPlanChangeable(subscription({ has_pending_checkout: true }), 'plan_2');
  expect(refusalOf(attempt).details).toEqual([
    {
      path: 'target_plan_id',
      code: 'checkout_in_progress',
      message: 'A checkout of the subscription is under way.',
    },
  ]);
});

const price = (id: string, over: Partial<ServicePrice> = {}): ServicePrice => ({
  id,
  type: 'FIXED',
  billing_model: 'FLAT_FEE',
  currency: 'usd',
  amount: '10',
  meter_id: null,
  filter_values: null,
  lookup_key: 'seats',
  billing_period: 'MONTHLY',
  billing_period_count: 1,
  invoice_cadence: 'ADVANCE',
  ...over,
});
const usage = (id: string, over: Partial<ServicePrice> = {}) =>
  price(id, {
    type: 'USAGE',
    meter_id: 'meter_1',
    lookup_key: null,
    invoice_cadence: 'ARREAR',
    ...over,
  });
const pair = (left: ServicePrice, right: ServicePrice) =>
  pairLines([{ id: 'line', price: left }], [right])
    .map(({ action }) => action)
    .join(' ');

describe('which lines are the same service', () => {
  test.each`
    why                           | left                                                            | right                                                           | actions
    ${'equal fee'}                | ${price('a')}                                                   | ${price('b')}                                                   | ${'keep'}
    ${'same key, other amount'}   | ${price('a')}                                                   | ${price('b', { amount: '11' })}                                 | ${'replace'}
    ${'another key'}              | ${price('a')}                                                   | ${price('b', { lookup_key: 'desks' })}                          | ${'close open'}
    ${'no key'}                   | ${price('a', { lookup_key: null })}                             | ${price('b', { lookup_key: null })}                             | ${'close open'}
    ${'an empty key'}             | ${price('a', { lookup_key: '' })}                               | ${price('b', { lookup_key: '' })}                               | ${'close open'}
    ${'same meter'}               | ${usage('a')}                                                   | ${usage('b')}                                                   | ${'replace'}
    ${'another meter'}            | ${usage('a')}                                                   | ${usage('b', { meter_id: 'meter_2' })}                          | ${'close open'}
    ${'no meter'}                 | ${usage('a', { meter_id: null })}                               | ${usage('b', { meter_id: null })}                               | ${'close open'}
    ${'same filter, other order'} | ${usage('a', { filter_values: { r: ['eu', 'us'], m: ['x'] } })} | ${usage('b', { filter_values: { m: ['x'], r: ['us', 'eu'] } })} | ${'replace'}
    ${'another filter'}           | ${usage('a', { filter_values: { r: ['eu'] } })}                 | ${usage('b', { filter_values: { r: ['us'] } })}                 | ${'close open'}
    ${'filter against none'}      | ${usage('a', { filter_values: { r: ['eu'] } })}                 | ${usage('b')}                                                   | ${'close open'}
    ${'empty filter is none'}     | ${usage('a', { filter_values: {} })}                            | ${usage('b')}                                                   | ${'replace'}
    ${'usage against a fee'}      | ${usage('a', { lookup_key: 'seats' })}                          | ${price('b')}                                                   | ${'close open'}
  `('$why: $actions', ({ left, right, actions }) => {
    expect(pair(left, right)).toBe(actions);
  });
});

describe('which fees are equal in all that rates', () => {
  const tiers = [
    { up_to: 10, unit_amount: '1' },
    { up_to: null, unit_amount: '0.5', flat_amount: '3' },
  ];
  const tiered = { billing_model: 'TIERED', amount: null, tier_mode: 'SLAB', tiers } as const;
  const packaged = { billing_model: 'PACKAGE', transform_quantity: { divide_by: 10 } } as const;

  test.each`
    why                          | left                   | right                                                                                                                       | action
    ${'how amounts are written'} | ${{ amount: '10.00' }} | ${{ amount: '10' }}                                                                                                         | ${'keep'}
    ${'equal tiers'}             | ${tiered}              | ${{ ...tiered, tiers: [{ up_to: '10', unit_amount: '1.0', flat_amount: '0' }, { unit_amount: '0.50', flat_amount: '3' }] }} | ${'keep'}
    ${'equal packages'}          | ${packaged}            | ${{ ...packaged, transform_quantity: { divide_by: 10, round: 'up' } }}                                                      | ${'keep'}
    ${'other names'}             | ${{}}                  | ${{ min_quantity: null }}                                                                                                   | ${'keep'}
    ${'model'}                   | ${{}}                  | ${packaged}                                                                                                                 | ${'replace'}
    ${'currency'}                | ${{}}                  | ${{ currency: 'eur' }}                                                                                                      | ${'replace'}
    ${'tier mode'}               | ${tiered}              | ${{ ...tiered, tier_mode: 'VOLUME' }}                                                                                       | ${'replace'}
    ${'a tier bound'}            | ${tiered}              | ${{ ...tiered, tiers: [{ ...tiers[0], up_to: 11 }, tiers[1]] }}                                                             | ${'replace'}
    ${'a tier amount'}           | ${tiered}              | ${{ ...tiered, tiers: [{ ...tiers[0], unit_amount: '2' }, tiers[1]] }}                                                      | ${'replace'}
    ${'a flat amount'}           | ${tiered}              | ${{ ...tiered, tiers: [tiers[0], { ...tiers[1], flat_amount: '4' }] }}                                                      | ${'replace'}
    ${'a package size'}          | ${packaged}            | ${{ ...packaged, transform_quantity: { divide_by: 11 } }}                                                                   | ${'replace'}
    ${'package rounding'}        | ${packaged}            | ${{ ...packaged, transform_quantity: { divide_by: 10, round: 'down' } }}                                                    | ${'replace'}
    ${'the period'}              | ${{}}                  | ${{ billing_period: 'ANNUAL' }}                                                                                             | ${'replace'}
    ${'the count'}               | ${{}}                  | ${{ billing_period_count: 2 }}                                                                                              | ${'replace'}
    ${'the cadence'}             | ${{}}                  | ${{ invoice_cadence: 'ARREAR' }}                                                                                            | ${'replace'}
  `('$why: $action', ({ left, right, action }) => {
    expect(pair(price('a', left), price('b', right))).toBe(action);
  });
});

test('each line and price is paired once, in order', () => {
  const lines = [
    { id: 'l1', price: price('a') },
    { id: 'l2', price: price('b') },
    { id: 'l3', price: price('c', { lookup_key: 'gone' }) },
  ];
  expect(
    pairLines(lines, [price('x', { lookup_key: 'new' }), price('y', { amount: '9' }), price('z')]),
  ).toEqual([
    { action: 'replace', line_id: 'l1', price_id: 'y' },
    { action: 'keep', line_id: 'l2', price_id: 'z' },
    { action: 'close', line_id: 'l3' },
    { action: 'open', price_id: 'x' },
  ]);
});

describe('upgrade, downgrade or neither', () => {
  const charge = (
    amount: string,
    quantity = '1',
    billing_period = 'MONTHLY',
    billing_period_count = 1,
  ) =>
    ({ amount, quantity, billing_period, billing_period_count }) as Parameters<
      typeof changeType
    >[0][number];

  test.each`
    closing               | opening                                         | type
    ${[charge('5', '2')]} | ${[charge('5', '3')]}                           | ${'upgrade'}
    ${[charge('5', '3')]} | ${[charge('5', '2')]}                           | ${'downgrade'}
    ${[charge('10')]}     | ${[charge('4'), charge('6')]}                   | ${'lateral'}
    ${[]}                 | ${[]}                                           | ${'lateral'}
    ${[charge('10')]}     | ${[charge('119', '1', 'ANNUAL')]}               | ${'downgrade'}
    ${[charge('10')]}     | ${[charge('120', '1', 'ANNUAL')]}               | ${'lateral'}
    ${[charge('10')]}     | ${[charge('31', '1', 'QUARTERLY')]}             | ${'upgrade'}
    ${[charge('10')]}     | ${[charge('20', '1', 'MONTHLY', 2)]}            | ${'lateral'}
    ${[charge('10')]}     | ${[charge('2.30', '1', 'WEEKLY')]}              | ${'upgrade'}
    ${[charge('10')]}     | ${[charge('2.29', '1', 'WEEKLY')]}              | ${'downgrade'}
    ${[charge('10')]}     | ${[charge('0.33', '1', 'DAILY')]}               | ${'upgrade'}
    ${[charge('10')]}     | ${[charge('0.65', '1', 'DAILY', 2)]}            | ${'downgrade'}
    ${[charge('10')]}     | ${[charge('10'), charge('99', '1', 'ONETIME')]} | ${'lateral'}
  `('$type', ({ closing, opening, type }) => {
    expect(changeType(closing, opening)).toBe(type);
  });
});
