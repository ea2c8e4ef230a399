import fc from 'fast-check';
import { BillingError } from '../../../domain/errors.ts';
import { checkoutMachine } from '../../../domain/states/checkout.ts';
import { creditNoteMachine } from '../../../domain/states/credit-note.ts';
import { grantApplicationMachine } from '../../../domain/states/grant-application.ts';
import { invoicePaymentMachine } from '../../../domain/states/invoice-payment.ts';
import { invoiceMachine } from '../../../domain/states/invoice.ts';
import { pauseMachine } from '../../../domain/states/pause.ts';
import { paymentMachine } from '../../../domain/states/payment.ts';
import { refundMachine } from '../../../domain/states/refund.ts';
import { canMove, move, type StateMachine } from '../../../domain/states/state-machine.ts';
import { subscriptionMachine } from '../../../domain/states/subscription.ts';
import { taskMachine } from '../../../domain/states/task.ts';
import { transactionMachine } from '../../../domain/states/wallet-transaction.ts';
import { walletMachine } from '../../../domain/states/wallet.ts';
import { property } from '../../support/properties.ts';

/** Each machine with the states that nothing leads out of (billing 19, money 21). */
const machines: readonly { machine: StateMachine<string, string>; final: readonly string[] }[] = [
  { machine: subscriptionMachine, final: ['cancelled'] },
  { machine: pauseMachine, final: ['completed', 'cancelled'] },
  { machine: invoiceMachine, final: ['VOIDED'] },
  { machine: invoicePaymentMachine, final: ['REFUNDED', 'VOIDED'] },
  { machine: paymentMachine, final: ['FAILED', 'REFUNDED', 'VOIDED'] },
  { machine: refundMachine, final: ['SUCCEEDED', 'FAILED', 'CANCELLED'] },
  { machine: walletMachine, final: ['closed'] },
  { machine: transactionMachine, final: ['completed', 'failed'] },
  { machine: creditNoteMachine, final: ['VOIDED'] },
  { machine: checkoutMachine, final: ['completed', 'failed', 'expired'] },
  { machine: taskMachine, final: ['COMPLETED'] },
  { machine: grantApplicationMachine, final: ['applied', 'skipped', 'cancelled'] },
];

describe.each(machines)('$machine.noun', ({ machine, final }) => {
  const triggers = fc.array(fc.constantFrom(...machine.triggers), { maxLength: 30 });

  property(
    `a ${machine.noun} never leaves its table, nor a final state, for every sequence of triggers`,
    fc.property(triggers, (walk) => {
      let state: string | null = null;
      for (const trigger of walk) {
        if (!canMove(machine, state, trigger)) {
          const from = state;
          expect(() => move(machine, from, trigger)).toThrow(BillingError);
          continue;
        }
        const next: string = move(machine, state, trigger);
        expect(machine.states).toContain(next);
        if (state !== null && final.includes(state)) expect(next).toBe(state);
        state = next;
      }
    }),
    { quick: 50, deep: 2_000 },
  );

  test('every state can be reached, and only the final ones cannot be left', () => {
    const reached = new Set<string>();
    const queue: (string | null)[] = [null];
    while (queue.length > 0) {
      const from = queue.pop()!;
      for (const trigger of machine.triggers) {
        if (!canMove(machine, from, trigger)) continue;
        const to = move(machine, from, trigger);
        if (!reached.has(to)) queue.push(to);
        reached.add(to);
      }
    }
    expect([...reached].sort()).toEqual([...machine.states].sort());
    const stuck = machine.states.filter((state) =>
      machine.triggers.every(
        (trigger) => !canMove(machine, state, trigger) || move(machine, state, trigger) === state,
      ),
    );
    expect([...stuck].sort()).toEqual([...final].sort());
  });
});
