import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';

/** Node's module hooks for `.ts` files: types are stripped in memory, so that tools run without a build. */
export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context);
  const { code } = transformSync(readFileSync(fileURLToPath(url), 'utf8'), {
    filename: fileURLToPath(url),
    sourceMaps: 'inline',
    jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
    module: { type: 'es6' },
  });
  return { format: 'module', source: code, shortCircuit: true };
}
