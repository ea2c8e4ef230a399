import {
  grantApplicationMachine,
  moveGrantApplication,
} from '../../../domain/states/grant-application.ts';
import { moveTransaction, transactionMachine } from '../../../domain/states/wallet-transaction.ts';
import { moveWallet, walletMachine } from '../../../domain/states/wallet.ts';
import { describeMachine } from './transition-table.ts';

describeMachine(
  walletMachine,
  `
         create credit debit  terminate convert freeze unfreeze
  new    active .      .      .         .       .      .
  active .      =      =      closed    closed  frozen .
  frozen .      =      .      closed    .       .      active
  closed .      .      .      .         .       .      .`,
  moveWallet,
);

describeMachine(
  transactionMachine,
  `
            record    request complete  fail   reverse
  new       completed pending .         .      .
  pending   .         .       completed failed .
  completed .         .       =         .      =
  failed    .         .       .         =      .`,
  moveTransaction,
);

describeMachine(
  grantApplicationMachine,
  `
            schedule apply   fail   skip    defer cancel
  new       pending  .       .      .       .     .
  pending   .        applied failed skipped =     cancelled
  failed    .        applied =      skipped .     cancelled
  applied   .        .       .      .       .     .
  skipped   .        .       .      .       .     .
  cancelled .        .       .      .       .     .`,
  moveGrantApplication,
);
