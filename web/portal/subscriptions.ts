import type { Subscription } from './queries.ts';

/** Subscriptions that still bill. */
export const isRunning = ({ subscription_status }: Subscription): boolean =>
  ['active', 'trialing', 'paused'].includes(subscription_status);

export const planNameOf = ({ plan }: Subscription): string => plan?.name ?? 'Plan';
