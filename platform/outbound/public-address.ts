import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';

/** Ports to which notifications may be sent. */
const PORTS: ReadonlySet<number> = new Set([
  80, 443, 8080, 8081, 8082, 8083, 8084, 8085, 8086, 8087, 8088, 8089, 8090, 8443,
]);

/**
 * Whether the address belongs to the public internet: not private, loopback, link-local, shared (CGNAT),
 * multicast, reserved, an IPv4 address in an IPv6 form (mapped, NAT64, 6to4, Teredo), and not one of this
 * machine (tenancy S9).
 */
export function isPublicAddress(address: string): boolean {
  const text = address.split('%')[0]!;
  if (isIP(text) === 0) return false;
  return ipaddr.parse(text).range() === 'unicast' && !ownAddresses().has(text);
}

export const isAllowedPort = (port: number): boolean => PORTS.has(port);

const ownAddresses = (): ReadonlySet<string> =>
  new Set(
    Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map((own) => own.address)),
  );
