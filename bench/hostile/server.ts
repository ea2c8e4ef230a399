import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { apiDocument } from '../../api/app.ts';
import { EXAMPLES } from '../../api/conventions/examples.ts';
import { INGEST_OPERATIONS } from '../../ingest/routes.ts';
import { apiPart } from '../../main/api-part.ts';
import { ingestPart } from '../../main/ingest-part.ts';
import { createRuntime } from '../../main/runtime.ts';
import { createServer } from '../../platform/http/server.ts';
import { startProduct } from '../whole/product.ts';
import {
  hostileCases,
  withOwnNames,
  type Document,
  type HostileCase,
  type HostileRequest,
  type Records,
} from './requests.ts';

/** The ingest edge and the API in this process, over engines of their own, and the requests that it gets. */
export interface HostileServer {
  readonly cases: readonly HostileCase[];
  /** Builds the request now; the function that it returns sends it and answers the status. */
  prepare(each: HostileCase): () => Promise<number>;
  send(each: HostileCase): Promise<number>;
  /** Creates the records that the requests name again: requests change and delete them. */
  renewRecords(): Promise<void>;
  close(): Promise<void>;
}

export async function startHostileServer(): Promise<HostileServer> {
  const product = await startProduct({ roles: [] });
  const runtime = createRuntime('bench', {
    ...process.env,
    LOG_LEVEL: 'fatal',
    POSTGRES_URL: product.postgresUrl,
    API_POSTGRES_URL: product.apiPostgresUrl,
    CLICKHOUSE_URL: product.clickhouseUrl,
    ENCRYPTION_KEY: `bench:${randomBytes(32).toString('base64')}`,
    API_REQUESTS_PER_SECOND: '0',
  });
  const app = createServer({ log: runtime.log });
  const close = async (): Promise<void> => {
    await app.close();
    await runtime.close();
    await product.close();
  };
  try {
    for (const part of [ingestPart, apiPart]) await (await part(runtime)).register(app);
    await app.ready();
    const apiKey = product.apiKey!;
    let count = 0;
    const next = (): number => (count += 1);
    let records = await makeRecords(app, apiKey, next);
    const prepare = (each: HostileCase) => {
      const request = each.request(records);
      return () => send(app, apiKey, request);
    };
    return {
      cases: hostileCases(apiDocument(INGEST_OPERATIONS) as Document),
      prepare,
      send: (each) => prepare(each)(),
      async renewRecords() {
        records = await makeRecords(app, apiKey, next, records);
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function send(
  app: FastifyInstance,
  apiKey: string,
  { method, url, payload, contentType }: HostileRequest,
): Promise<number> {
  const { statusCode } = await app.inject({
    method: method as 'GET',
    url,
    headers: {
      'x-api-key': apiKey,
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
    },
    ...(payload === undefined ? {} : { payload }),
  });
  return statusCode;
}

/** Creates the records of the document's examples, which other requests name. */
async function makeRecords(
  app: FastifyInstance,
  apiKey: string,
  next: () => number,
  before: Records | null = null,
): Promise<Records> {
  const paths: Record<string, string> = {};
  let text = JSON.stringify(EXAMPLES);
  for (const operation of Object.keys(EXAMPLES)) {
    const body = (JSON.parse(text) as Record<string, Record<string, unknown>>)[operation]!;
    const path = operation.split(' ')[1]!;
    const answer = await app.inject({
      method: 'POST',
      url: `/v1${path}`,
      headers: { 'x-api-key': apiKey },
      payload: withOwnNames(operation, body, next),
    });
    // The name is taken: the earlier record still exists.
    const isTaken = answer.statusCode === 409 && before !== null;
    if (answer.statusCode >= 300 && !isTaken) throw new Error(`${operation}: ${answer.body}`);
    const id = isTaken ? before.paths[`${path}/{id}`] : answer.json<{ id?: string }>().id;
    if (id === undefined) continue;
    paths[`${path}/{id}`] = id;
    const kind = id.split('_')[0]!;
    text = text.replaceAll(new RegExp(`"${kind}_[0-9A-Z]{26}"`, 'g'), JSON.stringify(id));
  }
  return { paths, bodies: JSON.parse(text) as Record<string, object>, next };
}
