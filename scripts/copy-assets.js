import { cpSync } from 'node:fs';

/** What the compiler leaves behind: files that the product reads at run time, beside the code that reads them. */
for (const folder of ['postgres/migrations', 'clickhouse/migrations', 'schemas/events']) {
  cpSync(folder, `dist/${folder}`, { recursive: true, filter: (path) => !path.endsWith('.ts') });
}
