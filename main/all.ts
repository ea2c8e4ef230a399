import { systemClock } from '../platform/clock.ts';
import { readConfig } from '../platform/config.ts';
import { createLogger } from '../platform/log.ts';
import { isLoopback } from '../platform/loopback.ts';
import { withoutTrailing } from '../schemas/digits.ts';
import { whyNotStarted } from './cannot-start.ts';
import { firstLogin } from './first-login.ts';
import { startInstance } from './instance.ts';

/**
 * `npm start`: one supervised process tree on this machine. The supervisor does no other work, so only a
 * signal ends it. It keeps the processes of the engines and roles alive.
 */
const startedAt = performance.now();
const config = readConfig({ LOG_LEVEL: 'warn', ...process.env });
const log = createLogger(config.LOG_LEVEL, 'supervisor');

const starting = startInstance({ config, log });
let stopping = false;
const stop = async (signal: string): Promise<void> => {
  if (stopping) return;
  stopping = true;
  process.stdout.write(`\n${signal}: draining …\n`);
  await starting.then((instance) => instance.stop());
  process.stdout.write('Stopped. The data is kept.\n');
  process.exit(0);
};
process.on('SIGINT', () => void stop('Ctrl-C'));
process.on('SIGTERM', () => void stop('SIGTERM'));

const { baseUrl, apiKey, firstPerson } = await starting.catch((error: unknown) => {
  process.stderr.write(`Meterline did not start: ${whyNotStarted(error)}\n`);
  process.exit(1);
});
const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
const key = apiKey ?? '<the key you were shown on the first start>';
process.stdout.write(`
Meterline is ready in ${seconds} s

  Console          ${baseUrl}/
  API and ingest   ${baseUrl}/v1
  Documentation    ${baseUrl}/docs
  Health           ${baseUrl}/readyz
  Data             ${config.DATA_DIR}
  API key          ${key}
${isLoopback(config.HOST) ? '' : `\nOther machines reach this port (HOST=${config.HOST}): read docs/security.md before the internet does.\n`}
Send an event, then read it back:

  curl -X POST ${baseUrl}/v1/events -H 'x-api-key: ${key}' -H 'content-type: application/json' \\
    -d '{"event_id":"first-event","event_name":"api.call","external_customer_id":"acme","timestamp":"${new Date(systemClock.now()).toISOString()}","properties":{"tokens":42}}'
  curl ${baseUrl}/v1/events/first-event -H 'x-api-key: ${key}'

${
  firstPerson === null
    ? ''
    : `${firstLogin(withoutTrailing(config.PUBLIC_URL ?? baseUrl, '/'), firstPerson)}
`
}Ctrl-C stops everything.
`);
