import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AddressRefused, createOutbound } from '../../../platform/outbound/guarded-request.ts';
import { outboundProblem } from '../../../platform/outbound/outbound-rules.ts';
import { isPublicAddress } from '../../../platform/outbound/public-address.ts';

const production = { isProduction: true, allowedHosts: ['127.0.0.1', 'localhost'] };
const development = { isProduction: false, allowedHosts: [] };

/** Hosts that reach this machine or its network, in every spelling that a URL accepts. */
const PRIVATE_HOSTS = [
  '127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.0.0.1', '0177.0.0.1', '017700000001',
  '127.0.0.1.', '0.0.0.0', '0', '10.0.0.1', '10.1', '172.16.0.1', '172.31.255.255', '192.168.1.1',
  '192.168.0.1.', '169.254.169.254', '169.254.0.1', '100.64.0.1', '100.127.255.254', '192.0.0.1', '192.0.2.1',
  '198.18.0.1', '198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255',
  '[::]', '[::1]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::ffff:10.0.0.1]',
  '[::ffff:169.254.169.254]', '[64:ff9b::7f00:1]', '[64:ff9b::169.254.169.254]', '[2002:7f00:1::]',
  '[2002:a00:1::]', '[2001:0:7f00:1::]', '[fc00::1]', '[fd00::1]', '[fd00:ec2::254]', '[fe80::1]',
  '[febf::1]', '[ff02::1]', '[2001:db8::1]', '[100::1]', '①②⑦.⓪.⓪.①', '127。0。0。1', '%31%32%37.0.0.1',
]; // prettier-ignore

/** Names that resolve to this machine. */
const PRIVATE_NAMES = ['localhost', 'localhost.', 'LOCALHOST', 'ip6-localhost', 'app.localhost'];

describe('addresses that notifications may not reach', () => {
  test.each(PRIVATE_HOSTS)('http://%s', (host) => {
    expect(outboundProblem(`http://${host}/`, development)).not.toBeNull();
    expect(outboundProblem(`https://${host}/`, production)).not.toBeNull();
  });

  test.each([
    'ftp://example.com/', 'file:///etc/passwd', 'gopher://example.com/', 'javascript:alert(1)', 'data:text/plain,x',
    'https://user:secret@example.com/', 'https://user@example.com/', 'https://example.com/#part',
    'https://example.com:22/', 'https://example.com:5432/', 'https://example.com:6379/', 'https://example.com:9092/',
    'https://example.com:8123/', 'https://example.com:25/', 'not a url', '', 'https://', 'http:example',
    '//example.com/', 'https://exa mple.com/', 'https://[::1', 'https://example.com:99999/',
  ])('%s', (url) => {
    expect(outboundProblem(url, production)).not.toBeNull();
  }); // prettier-ignore

  test('a production environment needs https', () => {
    expect(outboundProblem('http://example.com/', production)).toContain('https://');
    expect(outboundProblem('http://example.com/', development)).toBeNull();
    expect(outboundProblem('https://example.com/hooks?a=b', production)).toBeNull();
    expect(outboundProblem('https://93.184.215.14/', production)).toBeNull();
    expect(outboundProblem('https://[2606:4700::6810:84e5]:8443/', production)).toBeNull();
  });

  test('exceptions hold outside production only, with their port', () => {
    const rules = { isProduction: false, allowedHosts: ['127.0.0.1:4000', 'receiver.test'] };
    expect(outboundProblem('http://127.0.0.1:4000/', rules)).toBeNull();
    expect(outboundProblem('http://127.0.0.1:4001/', rules)).not.toBeNull();
    expect(outboundProblem('http://receiver.test:9/', rules)).toBeNull();
    expect(
      outboundProblem('http://127.0.0.1:4000/', { ...rules, isProduction: true }),
    ).not.toBeNull();
  });

  test('an address with a zone is not public', () => {
    expect(isPublicAddress('fe80::1%eth0')).toBe(false);
  });
});

describe('a connection', () => {
  test.each([...PRIVATE_HOSTS, ...PRIVATE_NAMES])('to http://%s is never opened', async (host) => {
    let connections = 0;
    const server = createServer((_request, response) => response.end()).on(
      'connection',
      () => (connections += 1),
    );
    await new Promise<void>((resolve) => server.listen(8090, '::', resolve)).catch(() => {});
    const outbound = createOutbound();
    const { port } = (server.address() ?? { port: 8090 }) as AddressInfo;
    const url = `http://${host}:${port}/`;
    const sent = { url, headers: {}, body: '{}', rules: development };
    const error: unknown = await outbound.post(sent).catch((thrown: unknown) => thrown);
    outbound.close();
    await new Promise((resolve) => server.close(resolve));
    // A name that the machine does not know has no address that could be refused.
    const { code } = error as { code?: string };
    const isUnknown = PRIVATE_NAMES.includes(host) && /^(ENOTFOUND|EAI_AGAIN)$/.test(code ?? '');
    if (!isUnknown) expect(error).toBeInstanceOf(AddressRefused);
    expect(connections).toBe(0);
  });
});
