import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readConfig } from '../platform/config.ts';
import { createApiClient } from './demo/api-client.ts';
import { grouped, money } from './demo/table.ts';
import { seedTenant } from './seed/seed-tenant.ts';

/**
 * Fills an empty environment of a running Meterline with a believable company: three plans, fifty customers,
 * a million events over three months, with invoices, payments and wallets. It uses the public API only.
 */
const { values: options } = parseArgs({
  options: {
    profile: { type: 'string', default: 'ai-saas' },
    events: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
    /** Where the data ends; by default now. The same seed and end give the same data. */
    until: { type: 'string' },
    /** Address of the service; by default that of `npm start` on this machine. */
    base: { type: 'string' },
    /** API key of the environment; by default that of the first start, from DATA_DIR. */
    key: { type: 'string' },
  },
});
const EVENTS_MAX = 10_000_000;
const UNREACHABLE: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'ETIMEDOUT']);

try {
  await main();
} catch (error) {
  process.stderr.write(`${reasonOf(error)}\n`);
  process.exitCode = 1;
}

async function main(): Promise<void> {
  if (options.profile !== 'ai-saas')
    throw new Error(`--profile: there is no profile "${options.profile}"; use ai-saas`);
  const events = count('events', options.events, EVENTS_MAX);
  const seed = count('seed', options.seed, 1_000_000_000);
  const until = options.until === undefined ? Date.now() : Date.parse(options.until);
  if (!(until <= Date.now()))
    throw new Error('--until: must be a time that has passed, for example 2026-01-31T12:00:00Z');

  const began = performance.now();
  const seconds = (): string => ((performance.now() - began) / 1000).toFixed(1);
  const { baseUrl, apiKey } = target();
  const summary = await seedTenant(createApiClient(baseUrl, apiKey), {
    seed,
    events,
    until,
    onProgress: (step, sent) =>
      process.stdout.write(
        `${seconds().padStart(6)} s  ${step.padEnd(32)}  ` +
          `${grouped(String(sent))} of ${grouped(String(events))} events\n`,
      ),
  });
  process.stdout.write(
    `seed profile=ai-saas seed=${seed} customers=${summary.customers} events=${summary.events} ` +
      `invoices=${summary.invoices} payments=${summary.payments} wallets=${summary.wallets} ` +
      `invoiced_usd=${money(summary.invoiced)} collected_usd=${money(summary.collected)} ` +
      `open_usd=${money(summary.open)} seconds=${seconds()} (` +
      Object.entries(summary.seconds)
        .map(([part, spent]) => `${part}=${spent.toFixed(1)}`)
        .join(' ') +
      ')\n',
  );
}

function count(name: string, text: string, max: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw new Error(`--${name}: must be a whole number from 1 to ${max}, not "${text}"`);
}

function target(): { readonly baseUrl: string; readonly apiKey: string } {
  const config = readConfig(process.env);
  const file = join(resolve(config.DATA_DIR), 'api-key');
  const stored = existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
  const apiKey = options.key ?? config.BOOTSTRAP_API_KEY ?? stored;
  if (apiKey === undefined)
    throw new Error(`--key: no API key is given and ${file} does not exist; pass --key sk_test_…`);
  const base = options.base ?? `http://127.0.0.1:${config.PORT}`;
  return { baseUrl: base.replace(/\/(v1)?$/, ''), apiKey };
}

/** A sentence for the person at the terminal. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && UNREACHABLE.has((error as NodeJS.ErrnoException).code ?? ''))
    return 'No Meterline answers at this address. Start it with npm start, or pass --base URL.';
  return error instanceof Error ? error.message : String(error);
}
