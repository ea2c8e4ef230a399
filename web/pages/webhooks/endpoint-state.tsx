import type { ApiRecord } from '../../client/api.ts';
import { Badge } from '../../ui/badge.tsx';

/** Whether notifications reach the endpoint. */
export function EndpointState({ of }: { readonly of: ApiRecord<'WebhookEndpoint'> }) {
  if (of.disabled_reason !== null) return <Badge tone="negative">Disabled automatically</Badge>;
  if (!of.enabled) return <Badge>Off</Badge>;
  if (of.failing_since !== null) return <Badge tone="warning">Failing</Badge>;
  return <Badge tone="positive">On</Badge>;
}
