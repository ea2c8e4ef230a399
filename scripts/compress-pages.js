import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** Writes a `.br` and a `.gz` beside each asset that gets smaller, so that no request waits for a compressor. */
const assets = join(process.argv[2], 'assets');
for (const name of readdirSync(assets)) {
  if (!/\.(js|css|svg)$/.test(name)) continue;
  const content = readFileSync(join(assets, name));
  const options = { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length } };
  writeFileSync(join(assets, `${name}.br`), brotliCompressSync(content, options));
  writeFileSync(join(assets, `${name}.gz`), gzipSync(content, { level: 9 }));
}
