import { taskMachine } from '../../../domain/states/task.ts';
import { describeMachine } from './transition-table.ts';

describeMachine(
  taskMachine,
  `
              PENDING PROCESSING COMPLETED FAILED
  new         PENDING .          .         .
  PENDING     =       PROCESSING .         FAILED
  PROCESSING  .       =          COMPLETED FAILED
  COMPLETED   .       .          =         .
  FAILED      .       PROCESSING .         =`,
);
