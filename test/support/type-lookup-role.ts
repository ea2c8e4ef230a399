import { Registry } from 'prom-client';
import { runRole } from '../../main/role.ts';
import { readConfig } from '../../platform/config.ts';
import { createLogger } from '../../platform/log.ts';
import { connectPostgres } from '../../postgres/client.ts';

/** A role that asks Postgres at its first argument until it gets an answer, and sends the answer to its parent. */
await runRole(
  {
    log: createLogger('fatal', 'test'),
    registry: new Registry(),
    config: readConfig({ OPERATIONS_PORT: '0' }),
  },
  async () => {
    const pool = connectPostgres({ url: process.argv[2]!, applicationName: 'test' });
    const ask = async (): Promise<unknown> => {
      try {
        return (await pool<{ names: string[] }[]>`select array['a', 'b'] as names`)[0]!.names;
      } catch {
        return await ask();
      }
    };
    process.send!({ answer: await ask() });
    return { health: async () => ({}), drain: () => pool.end({ timeout: 1 }) };
  },
);
