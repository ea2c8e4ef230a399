import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes the types of the pages' client from the OpenAPI document of the service, so that a page that uses a
 * changed route does not compile. Run with `--import ./scripts/typescript.js`. Nothing is done when no file
 * that declares routes is newer than the types.
 */
const TARGET = 'web/client/openapi.d.ts';
const SOURCES = ['schemas', 'api', 'ingest', 'domain', 'platform/http', 'package-lock.json'];

const changedAt = (path) => {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => changedAt(join(path, name))));
};
const stampOf = (text) => `// ${createHash('sha256').update(text).digest('hex')}`;

async function write() {
  const { apiDocument } = await import('../api/app.ts');
  const { INGEST_OPERATIONS } = await import('../ingest/routes.ts');
  const document = apiDocument(INGEST_OPERATIONS, '3.1.0');
  const stamp = stampOf(JSON.stringify(document));
  const isSame = existsSync(TARGET) && readFileSync(TARGET, 'utf8').startsWith(stamp);
  const types = isSame ? readFileSync(TARGET, 'utf8') : `${stamp}\n${await typesOf(document)}`;
  mkdirSync('web/client', { recursive: true });
  writeFileSync(TARGET, types);
}

async function typesOf(document) {
  const { default: openapiTS, astToString } = await import('openapi-typescript');
  return astToString(await openapiTS(JSON.stringify(document), { silent: true }));
}

const isCurrent =
  existsSync(TARGET) && Math.max(...SOURCES.map(changedAt)) < statSync(TARGET).mtimeMs;
if (!isCurrent) await write();
