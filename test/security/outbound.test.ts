import { readFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';

/**
 * What others answer is believed only where it is checked, waited for only so long, and read only so far
 * (tenancy S28). The product calls no other service: a new way out is refused here
 * until that way is one that is written down, with what guards it.
 */
describe('ways out', () => {
  /** Where the product opens connections of its own, and why what comes back is no foreign answer. */
  const KNOWN: Readonly<Record<string, string>> = {
    'web/client/session.ts': 'the pages in a browser, which call their own origin',
    'web/client/portal-session.ts': 'the portal in a browser, which calls its own origin',
    'main/http-role.ts': 'figures of roles on the same machine, with a time limit',
    'main/demo/api-client.ts': 'the demo, which calls the product',
    'main/maintain/machine-checks.ts':
      'ports of the product on the same machine, with a time limit',
    'main/stream-on-main-port.ts': 'readiness of the stream on the same machine, with a time limit',
    'platform/outbound/guarded-request.ts':
      'receivers that tenants choose: public addresses only, checked at connect, no redirects, limits of time and size',
    'platform/mail/smtp.ts': 'the mail server of the installation, with time limits',
    'platform/event-log/kafka-client.ts': 'brokers of the installation',
  };
  const WAY_OUT =
    /\bfetch\(|\bXMLHttpRequest\b|\bnew WebSocket\(|from '(undici|axios|got|node-fetch|ky|superagent|nodemailer|@aws-sdk\/[^']+)'|import [^;]*\b(request|get|connect|createConnection|Agent)\b[^;]* from 'node:(http|https|http2|net|tls|dgram)'|import (\* as )?\w+ from 'node:(http|https|http2|net|tls|dgram)'/;
  const files = execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts'],
    { encoding: 'utf8' },
  )
    .split('\n')
    .filter((name) => name !== '' && !/^(test|bench|scripts)\//.test(name));
  const withoutComments = (name: string): string =>
    readFileSync(name, 'utf8').replace(/\/\*[^]*?\*\/|(?<!:)\/\/.*$/gm, '');

  test('are those that are known', () => {
    expect(files.length).toBeGreaterThan(300);
    const found = files.filter((name) => WAY_OUT.test(withoutComments(name)));
    expect(found.sort()).toEqual(Object.keys(KNOWN).sort());
  });

  test.each([
    "await fetch('https://gateway.example')",
    "import { request } from 'node:https';",
    "import { createServer, request } from 'node:http';",
    "import * as https from 'node:https';",
    "import http from 'node:http';",
    "import { Agent } from 'undici';",
    "import { connect } from 'node:tls';",
  ])('%s is one', (line) => expect(WAY_OUT.test(line)).toBe(true));

  test.each([
    "import { createServer, type IncomingMessage } from 'node:http';",
    "import type { AddressInfo } from 'node:net';",
    'const prefetched = prefetch(ids)',
  ])('%s is none', (line) => expect(WAY_OUT.test(line)).toBe(false));
});
