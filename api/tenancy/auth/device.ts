import { userAgentOf } from '../../../platform/identity/request-session.ts';
import type { Device } from '../../../platform/identity/sessions.ts';

/** Origin of a request: address and user agent. */
export function deviceOf({
  ip,
  headers,
}: {
  readonly ip: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}): Device {
  const [agent] = [headers['user-agent'] ?? []].flat();
  return { ip, ...userAgentOf(agent === undefined ? {} : { 'user-agent': agent }) };
}
