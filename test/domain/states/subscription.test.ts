import { PAUSE_RECORD_STATUSES } from '../../../schemas/words.ts';
import { mirroredPauseStatus, movePause, pauseMachine } from '../../../domain/states/pause.ts';
import { moveSubscription, subscriptionMachine } from '../../../domain/states/subscription.ts';
import { refusalOf } from '../../support/refusal.ts';
import { describeMachine } from './transition-table.ts';

describeMachine(
  subscriptionMachine,
  `
             create_draft create_trialing create_active create_incomplete activate_trialing activate_active activate_incomplete discard convert_active convert_incomplete settle_first_invoice pause  resume cancel
  new        draft        trialing        active        incomplete        .                 .               .                   .       .              .                  .                    .      .      .
  draft      .            .               .             .                 trialing          active          incomplete          =       .              .                  .                    .      .      .
  trialing   .            .               .             .                 .                 .               .                   .       active         incomplete         .                    .      .      cancelled
  active     .            .               .             .                 .                 .               .                   .       .              .                  .                    paused .      cancelled
  incomplete .            .               .             .                 .                 .               .                   .       .              .                  active               .      .      cancelled
  paused     .            .               .             .                 .                 .               .                   .       .              .                  .                    .      active cancelled
  cancelled  .            .               .             .                 .                 .               .                   .       .              .                  .                    .      .      .`,
  moveSubscription,
);

describeMachine(
  pauseMachine,
  `
            pause_now schedule  start  withdraw  resume    cancel_subscription
  new       active    scheduled .      .         .         .
  scheduled .         .         active cancelled .         cancelled
  active    .         .         .      .         completed completed
  completed .         .         .      .         .         .
  cancelled .         .         .      .         .         .`,
  movePause,
);

test('a refusal names the accepted triggers, except in a final state', () => {
  expect(refusalOf(() => moveSubscription('paused', 'pause')).message).toBe(
    'A paused subscription does not accept pause; it accepts resume, cancel.',
  );
  expect(refusalOf(() => moveSubscription('cancelled', 'resume')).message).toBe(
    'A cancelled subscription does not accept resume.',
  );
  expect(refusalOf(() => moveSubscription(null, 'cancel')).message).toBe(
    'A new subscription does not accept cancel; it accepts create_draft, create_trialing, create_active, create_incomplete.',
  );
});

test('a property of every object is no trigger', () => {
  expect(refusalOf(() => moveSubscription('active', 'toString' as 'pause')).code).toBe(
    'invalid_operation',
  );
});

test('the subscription shows a pause only while it is live', () => {
  const shown = [null, ...PAUSE_RECORD_STATUSES].map((status) => mirroredPauseStatus(status));
  expect(shown).toEqual(['none', 'scheduled', 'active', 'none', 'none']);
});
