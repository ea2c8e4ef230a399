import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Ellipsis } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { Allowed } from '../../app/person.tsx';
import { InvoicePreview } from '../../app/billing/invoice-preview.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Stack } from '../../ui/page.tsx';
import { Awaiting } from '../../ui/query-state.tsx';
import { Day } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';
import { ActivationPreview } from './activation-preview.tsx';
import { AddonForm } from './addon-form.tsx';
import { CancelForm } from './cancel-form.tsx';
import { CouponForm } from './coupon-form.tsx';
import { PlanForm } from './plan-form.tsx';
import { QuantityForm } from './quantity-form.tsx';

/** Loaded when it is opened: days in a zone weigh as much as the rest of the page. */
const PauseForm = lazy(async () => ({ default: (await import('./pause-form.tsx')).PauseForm }));

type Open =
  | 'activate'
  | 'discard'
  | 'quantity'
  | 'plan'
  | 'addon'
  | 'coupon'
  | 'pause'
  | 'resume'
  | 'unpause'
  | 'cancel'
  | 'keep'
  | null;

/** The actions on a subscription in its present state. Each shows its result before it is executed. */
export function SubscriptionActions({
  subscription,
}: {
  readonly subscription: ApiRecord<'Subscription'>;
}) {
  const [open, setOpen] = useState<Open>(null);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const close = (): void => setOpen(null);
  const done = async (text: string): Promise<void> => {
    close();
    notify(text);
    await queries.invalidateQueries();
  };
  const path = { params: { path: { id: subscription.id } } };
  const status = subscription.subscription_status;
  const isEnding = subscription.cancel_at_period_end && subscription.cancel_at !== null;
  const isRunning = status === 'active' || status === 'trialing';
  // With phases, or with a pause that begins later, the server refuses both (billing 12.2, 14.2).
  const isPlain =
    isRunning && subscription.phases.length === 0 && subscription.active_pause_id === null;
  return (
    <Allowed to="subscription:write">
      {status === 'draft' ? (
        <>
          <Button onPress={() => setOpen('discard')}>Discard draft</Button>
          <Button tone="primary" onPress={() => setOpen('activate')}>
            Start subscription
          </Button>
        </>
      ) : null}
      {isRunning ? (
        <>
          <Button onPress={() => setOpen('quantity')}>Change quantity</Button>
          {isPlain && subscription.cancel_at === null ? (
            <Button onPress={() => setOpen('plan')}>Change plan</Button>
          ) : null}
        </>
      ) : null}
      {status === 'paused' ? (
        <Button tone="primary" onPress={() => setOpen('resume')}>
          Resume
        </Button>
      ) : null}
      {isRunning || status === 'paused' ? (
        <Menu
          label="More actions"
          button={<Ellipsis size={16} aria-hidden />}
          actions={[
            ...(isRunning
              ? [
                  { id: 'addon', label: 'Add addon', onChoose: () => setOpen('addon') },
                  { id: 'coupon', label: 'Add coupon', onChoose: () => setOpen('coupon') },
                ]
              : []),
            ...(isPlain ? [{ id: 'pause', label: 'Pause', onChoose: () => setOpen('pause') }] : []),
            ...(isRunning && subscription.active_pause_id !== null
              ? [{ id: 'unpause', label: 'Cancel the pause', onChoose: () => setOpen('unpause') }]
              : []),
            ...(isEnding
              ? [{ id: 'keep', label: 'Undo the cancellation', onChoose: () => setOpen('keep') }]
              : []),
            {
              id: 'cancel',
              label: 'Cancel subscription',
              isDanger: true,
              onChoose: () => setOpen('cancel'),
            },
          ]}
        />
      ) : null}
      <ConfirmDialog
        title="Start this subscription?"
        confirm="Start subscription"
        isOpen={open === 'activate'}
        onClose={close}
        onConfirm={async () => {
          await answerOf(
            api.POST('/subscriptions/{id}/activate', {
              ...path,
              body: { start_date: subscription.start_date },
            }),
          );
          await done('Subscription started');
        }}
      >
        <ActivationPreview subscription={subscription} />
      </ConfirmDialog>
      <ConfirmDialog
        title="Cancel the pause?"
        confirm="Cancel the pause"
        isOpen={open === 'unpause'}
        onClose={close}
        onConfirm={async () => {
          const pause_id = subscription.active_pause_id ?? '';
          const params = { path: { id: subscription.id, pause_id } };
          await answerOf(api.POST('/subscriptions/{id}/pauses/{pause_id}/cancel', { params }));
          await done('The pause is cancelled');
        }}
      >
        <p>The pause has not begun. Without it the subscription is billed as before.</p>
      </ConfirmDialog>
      <ConfirmDialog
        title="Discard this draft?"
        confirm="Discard draft"
        tone="danger"
        isOpen={open === 'discard'}
        onClose={close}
        onConfirm={async () => {
          await answerOf(api.POST('/subscriptions/{id}/discard', path));
          await navigate({ to: '/subscriptions' });
          await done('Draft discarded');
        }}
      >
        <p>
          The draft is removed with its terms. Nothing was billed. Its coupons may be redeemed by
          another subscription.
        </p>
      </ConfirmDialog>
      <ConfirmDialog
        title="Resume this subscription?"
        confirm="Resume subscription"
        isOpen={open === 'resume'}
        onClose={close}
        onConfirm={async () => {
          await answerOf(
            api.POST('/subscriptions/{id}/resume', { ...path, body: { resume_mode: 'immediate' } }),
          );
          await done('Subscription resumed');
        }}
      >
        <Stack>
          <p>
            Fees and usage are billed again from now on. The running period is longer by the time of
            the pause. This invoice results at its end, as it stands now:
          </p>
          <InvoicePreview subscriptionId={subscription.id} />
        </Stack>
      </ConfirmDialog>
      <ConfirmDialog
        title="Undo the cancellation?"
        confirm="Undo the cancellation"
        isOpen={open === 'keep'}
        onClose={close}
        onConfirm={async () => {
          await answerOf(
            api.POST('/subscriptions/schedules/cancel', {
              body: { subscription_id: subscription.id, schedule_type: 'cancellation' },
            }),
          );
          await done('The subscription continues');
        }}
      >
        <p>
          The subscription does not end on{' '}
          <Day at={subscription.cancel_at} zone={subscription.customer_timezone} />. It is billed
          for the following periods by its present terms.
        </p>
      </ConfirmDialog>
      <Dialog title="Change quantity" isOpen={open === 'quantity'} onClose={close} isWide>
        <QuantityForm subscription={subscription} onDone={done} />
      </Dialog>
      <Dialog title="Add addon" isOpen={open === 'addon'} onClose={close} isWide>
        <AddonForm subscription={subscription} onDone={done} />
      </Dialog>
      <Dialog title="Add coupon" isOpen={open === 'coupon'} onClose={close} isWide>
        <CouponForm subscription={subscription} onDone={done} />
      </Dialog>
      <Dialog title="Pause subscription" isOpen={open === 'pause'} onClose={close} isWide>
        <Suspense fallback={<Awaiting what="the form" />}>
          <PauseForm subscription={subscription} onDone={done} />
        </Suspense>
      </Dialog>
      <Dialog title="Change plan" isOpen={open === 'plan'} onClose={close} isWide>
        <PlanForm subscription={subscription} onDone={done} />
      </Dialog>
      <Dialog title="Cancel subscription" isOpen={open === 'cancel'} onClose={close} isWide>
        <CancelForm subscription={subscription} onDone={done} />
      </Dialog>
    </Allowed>
  );
}
