import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newWebhookSecret, webhookHeaders } from '../../../platform/outbound/standard-webhook.ts';

const page = readFileSync('docs/webhooks.md', 'utf8');
const block = (language: string) =>
  new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'ms').exec(page)![1]!;
const hasPython = spawnSync('python3', ['-c', 'str.removeprefix']).status === 0;

const NOW = 1_780_000_000;
const secret = newWebhookSecret();
const previous = newWebhookSecret();
const body = JSON.stringify({ event_type: 'customer.updated', customer: { name: 'Müller ☂' } });
const request = (changes: object = {}, keys = [secret], at = NOW) => ({
  headers: webhookHeaders('outbox_1', at * 1000, body, keys),
  body,
  ...changes,
});
const requests = {
  'signed now': request(),
  'signed with the new and the previous secret': request({}, [newWebhookSecret(), secret]),
  'five minutes old': request({}, [secret], NOW - 300),
  'signed with another secret': request({}, [previous]),
  'with a changed body': request({ body: body.replace('M', 'm') }),
  'with another id': request({ headers: { ...request().headers, 'webhook-id': 'outbox_2' } }),
  'six minutes old': request({}, [secret], NOW - 360),
  'six minutes in the future': request({}, [secret], NOW + 360),
  'without a timestamp': request({ headers: { 'webhook-signature': 'v1,AA==' } }),
  'without a signature': request({
    headers: { ...request().headers, 'webhook-signature': 'v1,é' },
  }),
};
const EXPECTED = ['customer.updated', 'customer.updated', 'customer.updated'];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'webhook-examples-'));
  writeFileSync(
    join(folder, 'requests.json'),
    JSON.stringify({ secret, requests: Object.values(requests) }),
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

const TYPESCRIPT = `
import { readFileSync } from 'node:fs';
const given = JSON.parse(readFileSync('FILE', 'utf8'));
for (const { headers, body } of given.requests)
  try {
    console.log(verifyWebhook(given.secret, headers, body, ${NOW}).event_type);
  } catch (error) {
    console.log((error as Error).message);
  }`;

const PYTHON = `
given = json.load(open("FILE", encoding="utf-8"))
for request in given["requests"]:
    try:
        print(verify_webhook(given["secret"], request["headers"], request["body"].encode(), ${NOW})["event_type"])
    except ValueError as error:
        print(error)
`;

const languages = [
  { language: 'ts', main: TYPESCRIPT, file: 'example.ts', command: 'node' },
  { language: 'python', main: PYTHON, file: 'example.py', command: 'python3' },
].filter(({ language }) => language !== 'python' || hasPython);

describe('the examples of docs/webhooks.md', () => {
  test.each(languages)('$language: accepts signed requests and no others', (example) => {
    const { language, main, file, command } = example;
    const path = join(folder, file);
    writeFileSync(path, block(language) + main.replace('FILE', join(folder, 'requests.json')));
    const loader = command === 'node' ? ['--import', './scripts/typescript.js'] : [];
    const { stdout, stderr } = spawnSync(command, [...loader, path], { encoding: 'utf8' });
    expect(stderr).toBe('');
    const answers = stdout.trim().split('\n');
    expect(answers).toHaveLength(Object.keys(requests).length);
    const refusal = expect.stringMatching(/^The (signature is wrong|timestamp is too old)\.$/);
    expect(answers).toEqual([...EXPECTED, ...answers.slice(EXPECTED.length).map(() => refusal)]);
  });
});
