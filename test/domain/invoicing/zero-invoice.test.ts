import { BILLING_REASONS } from '../../../schemas/words.ts';
import { activatesSubscription, skipsAsZero } from '../../../domain/invoicing/zero-invoice.ts';

const cycle = {
  invoice_type: 'SUBSCRIPTION',
  billing_reason: 'SUBSCRIPTION_CYCLE',
  is_manually_edited: false,
} as const;
const rows = (...amounts: string[]) => amounts.map((amount) => ({ amount }));

describe('what is skipped (billing 17.3)', () => {
  test.each`
    why                       | invoice                                                        | lines                  | skips
    ${'no row'}               | ${cycle}                                                       | ${[]}                  | ${true}
    ${'every row zero'}       | ${cycle}                                                       | ${rows('0', '0.00')}   | ${true}
    ${'one row has value'}    | ${cycle}                                                       | ${rows('0', '0.01')}   | ${false}
    ${'rows that cancel out'} | ${cycle}                                                       | ${rows('100', '-100')} | ${false}
    ${'a negative row'}       | ${cycle}                                                       | ${rows('-0.01')}       | ${false}
    ${'opening'}              | ${{ ...cycle, billing_reason: 'SUBSCRIPTION_CREATE' }}         | ${[]}                  | ${true}
    ${'change'}               | ${{ ...cycle, billing_reason: 'SUBSCRIPTION_UPDATE' }}         | ${[]}                  | ${true}
    ${'end of the trial'}     | ${{ ...cycle, billing_reason: 'SUBSCRIPTION_TRIAL_END' }}      | ${rows('0')}           | ${true}
    ${'start of the trial'}   | ${{ ...cycle, billing_reason: 'SUBSCRIPTION_TRIAL_START' }}    | ${rows('0')}           | ${false}
    ${'edited by hand'}       | ${{ ...cycle, is_manually_edited: true }}                      | ${[]}                  | ${false}
    ${'one-off'}              | ${{ ...cycle, invoice_type: 'ONE_OFF', billing_reason: null }} | ${rows('0')}           | ${false}
    ${'credit'}               | ${{ ...cycle, invoice_type: 'CREDIT', billing_reason: null }}  | ${rows('0')}           | ${false}
  `('$why: $skips', ({ invoice, lines, skips }) => {
    expect(skipsAsZero(invoice, lines)).toBe(skips);
  });
});

test.each([...BILLING_REASONS, null])('payment of %s', (reason) => {
  expect(activatesSubscription(reason)).toBe(
    reason !== null &&
      ['SUBSCRIPTION_CREATE', 'SUBSCRIPTION_TRIAL_END', 'SUBSCRIPTION_UPDATE'].includes(reason),
  );
});
