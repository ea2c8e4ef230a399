import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { RawInsertFormat } from 'chdb';
import { withoutTrailing } from '../../schemas/digits.ts';
import { refuseOutside } from './allowed-statement.ts';
import { badRequest, bodyTooLarge, notServed, readOnly } from './errors.ts';
import type { RawInsert, Statement } from './sessions.ts';

/** One parsed request of the HTTP interface. */
export interface EmbeddedRequest {
  readonly queryId: string;
  readonly work: Statement | RawInsert;
  /** Limit class of the statement (`query-limits.ts`); empty if the request names none. */
  readonly limitClass: string;
  /** Whether the answer may be compressed: the request must allow it in two places. */
  readonly compress: boolean;
}

const BODY_BYTES_MAX = 512 * 1024 * 1024;

// URL parameters that are not settings. Parameters that only tune how a server streams its answer are
// accepted and ignored, because an answer is sent when it is complete.
const RESERVED = new Set([
  'query', 'query_id', 'database', 'default_format', 'session_id', 'session_timeout', 'session_check',
  'user', 'password', 'quota_key', 'role', 'buffer_size', 'wait_end_of_query', 'compress', 'decompress',
  'enable_http_compression', 'http_zlib_compression_level', 'send_progress_in_http_headers',
  'http_headers_progress_interval_ms', 'cancel_http_readonly_queries_on_client_close',
  'http_write_exception_in_output_format', 'client_protocol_version', 'log_comment', 'stacktrace',
]); // prettier-ignore

const RAW_INSERT =
  /^insert\s+into\s+(?:table\s+)?([\w.]+)\s*(?:\(([\w\s,]*)\)\s*)?format\s+(\w+)$/i;
const RAW_FORMATS: ReadonlySet<string> = new Set<RawInsertFormat>([
  'JSONEachRow', 'JSONCompactEachRow', 'TabSeparated', 'TSV', 'CSV', 'CSVWithNames',
  'TabSeparatedWithNames', 'TSVWithNames',
]); // prettier-ignore
const READS = /^[\s(]*(select|with|show|desc|describe|explain|exists)\b/i;
const SETTING_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export async function readRequest(request: IncomingMessage): Promise<EmbeddedRequest> {
  const url = new URL(request.url ?? '/', 'http://localhost');
  // Not `url.searchParams`: each change of those writes the whole URL again, and a form may have megabytes.
  const parameters = new URLSearchParams(url.search);
  let body = await decoded(request, await bodyOf(request));
  const boundary = /^multipart\/form-data;.*boundary="?([^";]+)"?/i.exec(
    request.headers['content-type'] ?? '',
  )?.[1];
  if (boundary !== undefined) {
    for (const [name, value] of multipartFields(body, boundary)) parameters.set(name, value);
    body = Buffer.alloc(0);
  }
  if (parameters.has('session_id')) throw notServed('session_id');
  if (parameters.get('compress') === '1' || parameters.get('decompress') === '1')
    throw notServed('the native compression');

  const pathDatabase = decodeURIComponent(url.pathname.slice(1));
  const database =
    parameters.get('database') ??
    header(request, 'x-clickhouse-database') ??
    (pathDatabase === '' ? 'default' : pathDatabase);
  const given = { database, ...settingsAndParams(parameters) };
  const inUrl = parameters.get('query') ?? '';
  const isGet = request.method === 'GET' || request.method === 'HEAD';
  if (isGet && !isReading(inUrl)) throw readOnly();
  return {
    queryId: parameters.get('query_id') ?? '',
    limitClass: parameters.get('log_comment') ?? '',
    work: rawInsert(inUrl, body, given) ?? statement(request, parameters, inUrl, body, given),
    compress:
      parameters.get('enable_http_compression') === '1' &&
      /\bgzip\b/.test(header(request, 'accept-encoding') ?? ''),
  };
}

/** Whether the statement changes nothing. */
export const isReading = (sql: string): boolean => READS.test(sql);

/** Format of the answer: the FORMAT clause at the end of the query, else the format of the request. */
export function formatOf(sql: string, fallback: string): string {
  const statement = withoutEnd(sql);
  const settings = statement.toLowerCase().lastIndexOf('settings');
  const hasSettings = settings >= 0 && !statement.includes("'", settings);
  const query = hasSettings ? statement.slice(0, settings).trimEnd() : statement;
  return formatAtEnd(statement) ?? formatAtEnd(query) ?? fallback;
}

/** The name of a format is short: this avoids trying the pattern at each position of a long statement. */
const formatAtEnd = (sql: string): string | undefined =>
  /\bformat\s+(\w+)$/i.exec(sql.slice(-200))?.[1];

const withoutEnd = (sql: string): string => withoutTrailing(sql.trim(), ';').trimEnd();

interface Given {
  readonly database: string;
  readonly settings: ReadonlyMap<string, string>;
  readonly params: ReadonlyMap<string, string>;
}

function rawInsert(sql: string, values: Buffer, given: Given): RawInsert | null {
  const [, table, columns, format] = RAW_INSERT.exec(withoutEnd(sql)) ?? [];
  if (table === undefined || !RAW_FORMATS.has(format!) || given.params.size > 0) return null;
  return {
    table,
    columns: columns?.split(',').map((name) => name.trim()),
    format: format as RawInsertFormat,
    values,
    database: given.database,
    settings: given.settings,
  };
}

function statement(
  request: IncomingMessage,
  parameters: URLSearchParams,
  inUrl: string,
  body: Buffer,
  given: Given,
): Statement {
  const text = body.toString('utf8');
  const sql = inUrl === '' ? text : text === '' ? inUrl : `${inUrl}\n${text}`;
  if (sql.trim() === '') throw badRequest('Empty query');
  refuseOutside(sql);
  const fallback =
    parameters.get('default_format') ?? header(request, 'x-clickhouse-format') ?? 'TabSeparated';
  return { sql, format: fallback, ...given };
}

function settingsAndParams(parameters: URLSearchParams): Omit<Given, 'database'> {
  const settings = new Map<string, string>();
  const params = new Map<string, string>();
  for (const [name, value] of parameters) {
    if (RESERVED.has(name)) continue;
    if (!SETTING_NAME.test(name)) throw badRequest(`${JSON.stringify(name)} is not a setting`);
    if (name.startsWith('param_')) params.set(name.slice('param_'.length), value);
    else settings.set(name, value);
  }
  return { settings, params };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_BYTES_MAX) throw bodyTooLarge(BODY_BYTES_MAX);
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size);
}

async function decoded(request: IncomingMessage, body: Buffer): Promise<Buffer> {
  const encoding = header(request, 'content-encoding') ?? 'identity';
  const limit = { maxOutputLength: BODY_BYTES_MAX };
  try {
    switch (encoding) {
      case 'identity':
        return body;
      case 'gzip':
        return await promisify<Buffer, typeof limit, Buffer>(gunzip)(body, limit);
      case 'deflate':
        return await promisify<Buffer, typeof limit, Buffer>(inflate)(body, limit);
      case 'br':
        return await promisify<Buffer, typeof limit, Buffer>(brotliDecompress)(body, limit);
    }
  } catch (error) {
    if (error instanceof RangeError) throw bodyTooLarge(BODY_BYTES_MAX);
    throw badRequest(`The body is not valid ${encoding}`);
  }
  throw notServed(`Content-Encoding ${encoding}`);
}

/** Text fields of a form. Clients send parameters this way when they are too long for a URL. */
function multipartFields(body: Buffer, boundary: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const part of body.toString('utf8').split(`--${boundary}`).slice(1, -1)) {
    const headEnd = part.indexOf('\r\n\r\n');
    const name = /name="([^"]*)"/i.exec(part.slice(0, headEnd))?.[1];
    if (name === undefined) throw badRequest('A part of the form has no name');
    fields.set(name, part.slice(headEnd + 4, -2));
  }
  return fields;
}

function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
