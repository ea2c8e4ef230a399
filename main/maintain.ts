import { resolve } from 'node:path';
import { readConfig } from '../platform/config.ts';
import { keptEncryptionKey } from './encryption-key.ts';
import { readRunning, type InstanceRecord } from './instance-file.ts';
import { Misused } from './maintain/command.ts';
import { COMMANDS, commandList } from './maintain/commands.ts';
import { createRuntime } from './runtime.ts';

/**
 * `npm run maintain -- COMMAND`: manual work on a running product. Prints the plan, its progress, and one
 * closing line. Uses the engines of the settings, or of the instance that runs on DATA_DIR. See
 * docs/operations.md.
 */
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const refuse: (line: string, exitCode: 1 | 2) => never = (line, exitCode) => {
  process.stderr.write(`${line}\n`);
  process.exit(exitCode);
};

const [name = '', ...words] = process.argv.slice(2);
const command = COMMANDS.find((known) => known.name === name);
if (command === undefined) {
  const unknown = name === '' ? 'A command is required.' : `There is no command ${name}.`;
  refuse(`${unknown} Usage: npm run maintain -- COMMAND\n\n${commandList()}`.trimEnd(), 2);
}
try {
  const plan = command.plan(words);
  const { environment, instance } = findEngines(process.env);
  say(`${name}: ${plan} (${instance?.base_url ?? 'engines of this shell’s settings'})`);
  const runtime = createRuntime('maintain', environment);
  try {
    const outcome = await command.run({ runtime, words, instance, say });
    say(`${name} ${outcome.line}`);
    if (!outcome.ok) process.exitCode = 1;
  } finally {
    await runtime.close();
  }
} catch (error) {
  if (error instanceof Misused)
    refuse(`${name} ${error.message}. Usage: npm run maintain -- ${name} ${command.takes}`, 2);
  refuse(`${name} failed: ${error instanceof Error ? error.message : String(error)}`, 1);
}

/**
 * The environment with the addresses of the running instance filled in. If POSTGRES_URL names another
 * database than the instance's, it belongs to another product: then no address of the instance is used.
 */
function findEngines(given: NodeJS.ProcessEnv): {
  environment: NodeJS.ProcessEnv;
  instance: InstanceRecord['addresses'];
} {
  const quiet = { LOG_LEVEL: 'warn', ...given };
  const { DATA_DIR, POSTGRES_URL } = readConfig(quiet);
  const dataDirectory = resolve(DATA_DIR);
  const running = readRunning(dataDirectory);
  const instance = running?.addresses ?? null;
  const isAnother = POSTGRES_URL !== undefined && POSTGRES_URL !== instance?.settings.POSTGRES_URL;
  if (isAnother) return { environment: quiet, instance: null };
  if (instance === null)
    throw new Error(
      running === null
        ? `no Meterline runs on ${dataDirectory}: start it with npm start, or set DATA_DIR, or POSTGRES_URL and CLICKHOUSE_URL`
        : `the Meterline on ${dataDirectory} is still starting: try again in a moment`,
    );
  const kept = keptEncryptionKey(dataDirectory);
  const sealing = kept === null ? {} : { ENCRYPTION_KEY: kept };
  const set = Object.entries(quiet).filter(([, value]) => value !== '' && value !== undefined);
  return {
    environment: { ...instance.settings, ...sealing, ...Object.fromEntries(set) },
    instance,
  };
}
