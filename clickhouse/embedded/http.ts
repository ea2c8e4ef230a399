import { timingSafeEqual, createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { httpStatus, isFatal, queryFailure, wrongPassword } from './errors.ts';
import type { FailedWrites } from './failed-writes.ts';
import { formatOf, isReading, readRequest } from './request.ts';
import type { SessionPool, Statement } from './sessions.ts';

export interface EmbeddedHttpOptions {
  readonly reads: SessionPool;
  /** Wide queries have their own sessions, so that a small query never waits behind them. */
  readonly analytics: SessionPool;
  readonly inserts: SessionPool;
  readonly password: string;
  readonly failedWrites: FailedWrites;
  /** Called when the engine has stopped answering permanently. */
  readonly onFatal: (message: string) => void;
}

interface Serving extends EmbeddedHttpOptions {
  readonly manners: Manners;
}

interface Answer {
  readonly body: Buffer;
  readonly format: string;
  readonly summary: Readonly<Record<string, string>>;
  readonly queryId: string;
  readonly compress: boolean;
}

/**
 * The part of ClickHouse's HTTP interface that the product uses: queries in the URL or the body, parameters
 * in the URL or a form, settings, formats, compression, exception and summary headers. An answer is sent when
 * it is complete, so an exception always has its own status.
 */
export function createEmbeddedHttpServer(options: EmbeddedHttpOptions): Server {
  const manners = new Manners();
  const server = createServer({ maxHeaderSize: 1024 * 1024, keepAliveTimeout: 30_000 });
  server.requestTimeout = 0;
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    void handle({ ...options, manners }, request, response).catch(() => response.destroy());
  });
  return server;
}

async function handle(
  options: Serving,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = (request.url ?? '/').split('?')[0];
  if (request.method === 'GET' && (path === '/ping' || path === '/replicas_status')) {
    response.writeHead(200, { 'Content-Type': 'text/plain' }).end('Ok.\n');
    return;
  }
  try {
    authenticate(request, options.password);
    await send(response, await answer(options, request));
  } catch (error) {
    const failure = queryFailure(error);
    request.resume(); // the unread body of a refused request must not hold the connection
    response.writeHead(httpStatus(failure), {
      'Content-Type': 'text/plain; charset=UTF-8',
      'X-ClickHouse-Exception-Code': String(failure.code),
    });
    response.end(`${failure.message}\n`);
    if (isFatal(failure)) options.onFatal(failure.message);
  }
}

async function answer(options: Serving, request: IncomingMessage): Promise<Answer> {
  const { queryId, limitClass, work, compress } = await readRequest(request);
  const startedAt = process.hrtime.bigint();
  const elapsed = () => String(process.hrtime.bigint() - startedAt);
  if ('values' in work) {
    const written = work.values.length === 0 ? 0 : await options.inserts.insert(work);
    await options.failedWrites.refuse();
    const summary = { written_rows: String(written), elapsed_ns: elapsed() };
    return { body: Buffer.alloc(0), format: work.format, summary, queryId, compress: false };
  }
  const pool = /^\s*insert\b/i.test(work.sql)
    ? options.inserts
    : limitClass === 'analytics'
      ? options.analytics
      : options.reads;
  const result = await pool.query(
    options.manners.of(limitClass, work),
    () => request.socket.destroyed,
  );
  if (!isReading(work.sql)) await options.failedWrites.refuse();
  const bytes = result.bytes();
  return {
    body: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    format: formatOf(work.sql, work.format),
    summary: {
      result_rows: String(result.rowsRead),
      result_bytes: String(bytes.length),
      elapsed_ns: elapsed(),
    },
    queryId,
    compress,
  };
}

/** For this long after a small query, wide queries expect another one. */
const SMALL_MS = 1_000;

/**
 * While small queries are running, a wide query gets one thread, even if its limit is higher: each thread of a small
 * query waits behind the running threads, even those of low priority.
 */
class Manners {
  #smallAt = -Infinity;

  of(limitClass: string, statement: Statement): Statement {
    const now = performance.now();
    if (limitClass === 'reading') this.#smallAt = now;
    if (limitClass !== 'analytics' || now - this.#smallAt > SMALL_MS) return statement;
    return { ...statement, settings: new Map(statement.settings).set('max_threads', '1') };
  }
}

async function send(response: ServerResponse, sent: Answer): Promise<void> {
  const body = sent.compress ? await promisify(gzip)(sent.body, { level: 1 }) : sent.body;
  response.writeHead(200, {
    'Content-Type': contentType(sent.format),
    'Content-Length': body.length,
    'X-ClickHouse-Format': sent.format,
    'X-ClickHouse-Query-Id': sent.queryId,
    'X-ClickHouse-Server-Display-Name': 'embedded',
    'X-ClickHouse-Summary': JSON.stringify({ ...EMPTY_SUMMARY, ...sent.summary }),
    ...(sent.compress ? { 'Content-Encoding': 'gzip' } : {}),
  });
  response.end(body);
}

const EMPTY_SUMMARY = {
  read_rows: '0', read_bytes: '0', written_rows: '0', written_bytes: '0',
  total_rows_to_read: '0', result_rows: '0', result_bytes: '0', elapsed_ns: '0',
}; // prettier-ignore

function contentType(format: string): string {
  if (/^JSON(Compact|Strings|ColumnsWithMetadata)?$/.test(format))
    return 'application/json; charset=UTF-8';
  if (format.startsWith('JSON')) return 'application/x-ndjson; charset=UTF-8';
  if (/^(CSV|TSV|TabSeparated)/.test(format)) return 'text/plain; charset=UTF-8';
  return 'application/octet-stream';
}

/** Basic authentication or ClickHouse's own headers. Compares digests, so that lengths are not revealed. */
function authenticate(request: IncomingMessage, password: string): void {
  const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  const pair = basic === undefined ? '' : Buffer.from(basic, 'base64').toString('utf8');
  const given =
    basic === undefined
      ? String(request.headers['x-clickhouse-key'] ?? '')
      : pair.slice(pair.indexOf(':') + 1);
  const digest = (text: string) => createHash('sha256').update(text).digest();
  if (!timingSafeEqual(digest(given), digest(password))) throw wrongPassword();
}
