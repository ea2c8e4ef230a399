import { isIP } from 'node:net';
import { isAllowedPort, isPublicAddress } from './public-address.ts';

/** Addresses that a request to a tenant's URL may reach. */
export interface OutboundRules {
  /** Production environments: https only, and no exception from `allowedHosts`. */
  readonly isProduction: boolean;
  /** `host` or `host:port`: reachable from other environments even at private addresses. */
  readonly allowedHosts: readonly string[];
}

/** Why the URL may not be called, or null. The addresses of a name are checked when it is resolved. */
export function outboundProblem(text: string, rules: OutboundRules): string | null {
  if (!URL.canParse(text)) return 'is not a URL; expected for example https://example.com/webhooks';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https://';
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  if (url.hash !== '') return 'must not contain a fragment (#)';
  if (isAllowedHost(url, rules)) return null;
  if (rules.isProduction && url.protocol !== 'https:')
    return 'must begin with https:// in a production environment';
  if (!isAllowedPort(portOf(url))) return `port ${portOf(url)} is not allowed; use 443`;
  const host = hostOf(url);
  if (isIP(host) !== 0 && !isPublicAddress(host))
    return `${host} is not an address of the public internet`;
  return null;
}

/** Whether `allowedHosts` permits the URL to reach any address. */
export function isAllowedHost(url: URL, { isProduction, allowedHosts }: OutboundRules): boolean {
  if (isProduction) return false;
  const host = hostOf(url);
  return allowedHosts.some((entry) => entry === host || entry === `${host}:${portOf(url)}`);
}

/** The host without the brackets of IPv6. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '');

export const portOf = (url: URL): number =>
  url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
