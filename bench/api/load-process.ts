import { connect, type Socket } from 'node:net';
import { nextRequest, type RequestKind } from './requests.ts';

/** Sends requests at a steady rate, however slow the answers, from a separate process. */
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
  /** Measured from the time a request was due, so a late start counts as waiting. */
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  /** p95 of the requests due in each second of the run: a stall affects one second, a queue all seconds. */
  readonly p95MsBySecond: readonly number[];
  /** p95 of each kind of search, slowest first. */
  readonly byLabel: readonly (readonly [label: string, p95Ms: number])[];
}

const { port, apiKey } = JSON.parse(process.argv[2]!) as ApiLoad;
const CONNECTIONS_MAX = 64;
let connections = 0;
const idle: Socket[] = [];
const waiting: ((socket: Socket) => void)[] = [];
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

/**
 * Sends one request over its own connection and returns the status. Written by hand because the load
 * runs on the measured machine: the client of node:http took 0.50 ms of processor time per request,
 * this one takes 0.29 ms; the server takes 1.2 ms for a create.
 */
async function call(method: string, path: string, body: string | null): Promise<number> {
  const content =
    body === null
      ? '\r\n'
      : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  const socket = await freeConnection();
  const sent = `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${apiKey}\r\n${content}`;
  const answer = await exchange(socket, sent).finally(() => giveBack(socket));
  return Number(answer.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
}

// After an error the connection closes; the close event is handled instead.
const open = (): Socket =>
  connect({ port, host: '127.0.0.1', noDelay: true }).on('error', () => {});

function freeConnection(): Socket | Promise<Socket> {
  const free = idle.pop();
  if (free !== undefined) return free;
  if (connections === CONNECTIONS_MAX) return new Promise((resolve) => waiting.push(resolve));
  connections += 1;
  return open();
}

/** Gives the connection to the longest-waiting request; replaces it if closed. */
function giveBack(socket: Socket): void {
  const usable = socket.destroyed ? open() : socket;
  const next = waiting.shift();
  if (next === undefined) idle.push(usable);
  else next(usable);
}

/** Rejects when the connection ends before the answer: the server keeps connections under load open. */
function exchange(socket: Socket, sent: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const onData = (chunk: Buffer): void => {
      text += chunk.toString('latin1');
      if (!isWhole(text)) return;
      socket.off('data', onData).off('close', onClose);
      resolve(text);
    };
    const onClose = (): void => reject(new Error('closed before the answer'));
    socket.on('data', onData).once('close', onClose);
    socket.write(sent);
  });
}

/** Answers of the API have a `Content-Length`. */
function isWhole(text: string): boolean {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return false;
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(text.slice(0, head + 2))?.[1] ?? '0';
  return text.length >= head + 4 + Number(length);
}
