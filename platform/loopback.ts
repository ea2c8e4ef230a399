import { BlockList, isIP } from 'node:net';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/**
 * Whether a socket that listens on `host` is reachable from this machine only. Names other than `localhost`
 * are not resolved.
 */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '');
  const version = isIP(name);
  if (version === 0) return name.toLowerCase() === 'localhost';
  return LOOPBACK.check(name, version === 6 ? 'ipv6' : 'ipv4');
}
