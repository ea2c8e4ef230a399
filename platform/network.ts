import { isIPv6 } from 'node:net';

/**
 * The network under which an address is counted: an IPv4 address alone, an IPv6 address by its first 64 bits,
 * because the owner of one address in that network has all of them. An IPv4 address in IPv6 form counts as
 * IPv4.
 */
export function networkOf(ip: string): string {
  const address = ip.split('%')[0]!;
  if (!isIPv6(address)) return ip;
  const words = wordsOf(address);
  if (words.slice(0, 5).every((word) => word === 0) && words[5] === 0xffff)
    return words
      .slice(6)
      .flatMap((word) => [word >> 8, word & 255])
      .join('.');
  return `${words
    .slice(0, 4)
    .map((word) => word.toString(16))
    .join(':')}::/64`;
}

/** The eight words of a valid IPv6 address. */
function wordsOf(address: string): number[] {
  // An IPv4 tail is two words.
  const text = address.replace(
    /(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/,
    (_tail, ...bytes: string[]) => {
      const [a, b, c, d] = bytes.map(Number) as [number, number, number, number];
      return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
    },
  );
  const [head, tail] = text.split('::').map((part) => (part === '' ? [] : part.split(':')));
  const right = tail ?? [];
  const zeros = tail === undefined ? [] : Array<string>(8 - head!.length - right.length).fill('0');
  return [...head!, ...zeros, ...right].map((word) => Number.parseInt(word, 16));
}
