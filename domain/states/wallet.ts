import { WALLET_STATUSES } from '../../schemas/words.ts';
import { move, type StateMachine } from './state-machine.ts';

export type WalletStatus = (typeof WALLET_STATUSES)[number];

export const WALLET_TRIGGERS = [
  'create', 'credit', 'debit', 'terminate', 'convert', 'freeze', 'unfreeze',
] as const; // prettier-ignore
export type WalletTrigger = (typeof WALLET_TRIGGERS)[number];

/** Money-semantics 21.1 and 2.1.2: a frozen wallet accepts credits and refuses debits. */
export const walletMachine: StateMachine<WalletStatus, WalletTrigger> = {
  noun: 'wallet',
  field: 'wallet_status',
  refusal: 'invalid_operation',
  states: WALLET_STATUSES,
  triggers: WALLET_TRIGGERS,
  initial: { create: 'active' },
  moves: {
    active: {
      credit: 'active',
      debit: 'active',
      terminate: 'closed',
      convert: 'closed',
      freeze: 'frozen',
    },
    frozen: { credit: 'frozen', unfreeze: 'active', terminate: 'closed' },
    closed: {},
  },
};

/** The status after `trigger`; refuses with `invalid_operation`. */
export const moveWallet = (from: WalletStatus | null, trigger: WalletTrigger): WalletStatus =>
  move(walletMachine, from, trigger);
