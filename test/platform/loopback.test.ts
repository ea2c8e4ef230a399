import { isLoopback } from '../../platform/loopback.ts';

describe('addresses that only this machine reaches', () => {
  test.each([
    '127.0.0.1',
    '127.8.9.10',
    'localhost',
    'LOCALHOST',
    '::1',
    '[::1]',
    '::ffff:127.0.0.1',
  ])('%s', (host) => expect(isLoopback(host)).toBe(true));
});

describe('addresses that others may reach', () => {
  test.each([
    '0.0.0.0', '::', '[::]', '10.0.0.1', '192.168.1.2', '128.0.0.1', '::ffff:10.0.0.1',
    'billing.example.com', 'localhost.example.com', '127.0.0.1.example.com', '',
  ])('%s', (host) => expect(isLoopback(host)).toBe(false)); // prettier-ignore
});
