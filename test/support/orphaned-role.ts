import { Registry } from 'prom-client';
import { runRole } from '../../main/role.ts';
import { readConfig } from '../../platform/config.ts';
import { createLogger } from '../../platform/log.ts';

/** A role whose supervisor is gone before the role listens for its end. */
if (process.connected) await new Promise<void>((resolve) => process.once('disconnect', resolve));
await runRole(
  {
    log: createLogger('silent', 'test'),
    registry: new Registry(),
    config: readConfig({ OPERATIONS_PORT: '0' }),
  },
  () => new Promise(() => {}),
);
