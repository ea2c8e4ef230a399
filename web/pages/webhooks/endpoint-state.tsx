import type { ApiRecord } from '../../client/api.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';

const TONES = {
  'Disabled automatically': 'negative',
  Off: 'neutral',
  Failing: 'warning',
  On: 'positive',
} as const satisfies Readonly<Record<string, Tone>>;

/** Whether notifications reach the endpoint, in words. */
export function stateOf(endpoint: ApiRecord<'WebhookEndpoint'>): keyof typeof TONES {
  if (endpoint.disabled_reason !== null) return 'Disabled automatically';
  if (!endpoint.enabled) return 'Off';
  return endpoint.failing_since !== null ? 'Failing' : 'On';
}

export function EndpointState({ of }: { readonly of: ApiRecord<'WebhookEndpoint'> }) {
  const state = stateOf(of);
  return <Badge tone={TONES[state]}>{state}</Badge>;
}
