import { Agent, request } from 'node:http';
import { nextRequest, type RequestKind } from './requests.ts';

/** Requests at a steady rate, whatever the answers take, from a process of its own. */
export interface ApiLoad {
  readonly port: number;
  readonly apiKey: string;
}
export interface ApiRun {
  readonly kind: RequestKind;
  readonly perSecond: number;
  readonly seconds: number;
}
export interface ApiRunReport {
  readonly answered: number;
  readonly failed: number;
  /** From the moment a request was due, so that a late start counts as waiting. */
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  /** p95 of the requests that were due in each second of the run: a stall is one second, a queue all of them. */
  readonly p95MsBySecond: readonly number[];
  /** p95 of each kind of search, slowest first. */
  readonly byLabel: readonly (readonly [label: string, p95Ms: number])[];
}

const { port, apiKey } = JSON.parse(process.argv[2]!) as ApiLoad;
const agent = new Agent({ keepAlive: true, maxSockets: 64, noDelay: true });
process.on('SIGTERM', () => process.exit(0));
process.send!('ready');
process.on('message', (run: ApiRun) => void load(run).then((report) => process.send!(report)));

let sequence = 0;

async function load({ kind, perSecond, seconds }: ApiRun): Promise<ApiRunReport> {
  const began = performance.now();
  const count = Math.round(perSecond * seconds);
  const times: number[] = [];
  const bySecond: number[][] = [];
  const labelled = new Map<string, number[]>();
  let failed = 0;
  const running: Promise<void>[] = [];
  const send = async (dueAt: number): Promise<void> => {
    const { method, path, body, label, status } = nextRequest(kind, (sequence += 1));
    const answered = await call(method, path, body).catch(() => 0);
    const ms = performance.now() - dueAt;
    if (answered !== status) failed += 1;
    times.push(ms);
    (bySecond[Math.floor((dueAt - began) / 1000)] ??= []).push(ms);
    const own = labelled.get(label);
    if (own === undefined) labelled.set(label, [ms]);
    else own.push(ms);
  };
  for (let n = 0; n < count; n += 1) {
    const dueAt = began + (n * 1000) / perSecond;
    const waitMs = dueAt - performance.now();
    if (waitMs > 1) await new Promise((resolve) => setTimeout(resolve, waitMs));
    running.push(send(dueAt));
  }
  await Promise.all(running);
  const byLabel = [...labelled].map(([label, own]) => [label, at(own, 0.95)] as const);
  return {
    answered: times.length - failed,
    failed,
    p50Ms: at(times, 0.5),
    p95Ms: at(times, 0.95),
    p99Ms: at(times, 0.99),
    p95MsBySecond: bySecond.map((own) => at(own, 0.95)),
    byLabel: byLabel.sort((a, b) => b[1] - a[1]),
  };
}

function at(times: number[], share: number): number {
  times.sort((a, b) => a - b);
  return times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? NaN;
}

function call(method: string, path: string, body: string | null): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      'x-api-key': apiKey,
      ...(body === null
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    };
    const sent = request({ host: '127.0.0.1', port, path, method, agent, headers }, (answer) => {
      answer.resume();
      answer.once('end', () => resolve(answer.statusCode ?? 0));
      answer.once('error', reject);
    });
    sent.once('error', reject);
    sent.end(body ?? undefined);
  });
}
