import fc from 'fast-check';
import { networkOf } from '../../platform/network.ts';

describe('the network that an address is counted under', () => {
  test.each`
    ip                               | network
    ${'192.0.2.1'}                   | ${'192.0.2.1'}
    ${'::ffff:192.0.2.1'}            | ${'192.0.2.1'}
    ${'::FFFF:c000:201'}             | ${'192.0.2.1'}
    ${'::1'}                         | ${'0:0:0:0::/64'}
    ${'2001:db8::1'}                 | ${'2001:db8:0:0::/64'}
    ${'2001:db8:0:0:1:2:3:4'}        | ${'2001:db8:0:0::/64'}
    ${'2001:0DB8:0000:0000::1%eth0'} | ${'2001:db8:0:0::/64'}
    ${'1:2:3::'}                     | ${'1:2:3:0::/64'}
    ${'64:ff9b::192.0.2.33'}         | ${'64:ff9b:0:0::/64'}
    ${'no address'}                  | ${'no address'}
  `('$ip: $network', ({ ip, network }) => expect(networkOf(ip)).toBe(network));

  test('two IPv6 addresses share it exactly when their first 64 bits are equal', () => {
    const word = fc.integer({ min: 0, max: 0xffff });
    const words = fc.array(word, { minLength: 4, maxLength: 4 });
    const text = (all: number[]) => all.map((one) => one.toString(16)).join(':');
    fc.assert(
      fc.property(words, words, words, (left, right, other) => {
        fc.pre(text(left) !== '0:0:0:0');
        expect(networkOf(text([...left, ...right]))).toBe(networkOf(text([...left, ...other])));
        expect(networkOf(text([...left, ...right])) === networkOf(text([...other, ...right]))).toBe(
          text(left) === text(other),
        );
      }),
    );
  });
});
