import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('../../main/maintain.js', import.meta.url));
const MS_MAX = 600_000;
const RETRY_MS = 500;
/** The answer of a command that ran to its end and found something wrong. */
const FOUND_SOMETHING = /^[a-z-]+ [a-z]+=/m;

/**
 * `npm run maintain -- WORDS` in a process of its own, as an operator runs it beside a running product. Repeated
 * while it fails, because the product may be down. Returns its output.
 */
export async function maintain(
  environment: Readonly<Record<string, string>>,
  ...words: string[]
): Promise<string> {
  for (const began = performance.now(); ; await sleep(RETRY_MS)) {
    const child = spawn(process.execPath, [SCRIPT, ...words], {
      env: { ...process.env, ...environment, LOG_LEVEL: 'silent' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    const [code] = (await once(child, 'close')) as [number | null];
    if (code === 0 || FOUND_SOMETHING.test(output)) return output;
    if (performance.now() - began > MS_MAX)
      throw new Error(`maintain ${words.join(' ')} fails: ${output.slice(-1_000)}`);
  }
}
