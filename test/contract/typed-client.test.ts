import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { API_ROUTES } from '../../api/routes.ts';
import { INGEST_OPERATIONS } from '../../ingest/routes.ts';
import { startPipeline, type PipelineWorld } from '../support/pipeline-world.ts';
import { describeWith } from '../support/requires.ts';
import { createWalker, type Exchange } from './typed-client/client.ts';
import { sdkOperations } from './typed-client/sdk-operations.ts';
import { walkCatalog } from './typed-client/walk-catalog.ts';
import { walkCustomers } from './typed-client/walk-customers.ts';
import { walkEvents } from './typed-client/walk-events.ts';
import { walkInvoices } from './typed-client/walk-invoices.ts';
import { walkCouponsTaxesCosts } from './typed-client/walk-money.ts';
import { walkOperations } from './typed-client/walk-operations.ts';
import { walkSubscriptions } from './typed-client/walk-subscriptions.ts';
import { walkTenancy } from './typed-client/walk-tenancy.ts';
import { walkWallets } from './typed-client/walk-wallets.ts';

/** Needs a connection, a bucket or an uploaded file: the suites of these routes call them. */
const ELSEWHERE = new Set([
  'POST /entity-integration-mappings', 'DELETE /entity-integration-mappings/{id}',
  'GET /tasks/{id}', 'GET /tasks/{id}/download', 'POST /tasks', 'PUT /tasks/{id}/status',
  'POST /tasks/scheduled', 'GET /tasks/scheduled/{id}', 'PUT /tasks/scheduled/{id}',
  'DELETE /tasks/scheduled/{id}', 'POST /tasks/scheduled/{id}/run',
]); // prettier-ignore

/** Answers that this client cannot decode: the specification or the recorded answers have another form. */
const UNDECODABLE = [
  'GET /taxes/rates', // api 26: items and pagination
  'GET /subscriptions/{id}/addons/associations', // recorded: items and pagination
  'GET /subscriptions/{id}/pauses', // the client expects a list of pages
];

/** The same of the Python client: thresholds of features are numbers by the specification, and it knows 202 only. */
const UNDECODABLE_IN_PYTHON = [
  /alert_settings\.\w+\.threshold\s+Input should be a valid string/,
  /^POST \/invoices\/\{id\}\/recalculate: the client does not know status 200$/,
];

/** Path parameters have names of each side's own. */
const unnamed = (operation: string) => operation.replace(/\{[^}]+\}/g, '{}');

describe('the official typed client', () => {
  let world: PipelineWorld;
  let exchanges: readonly Exchange[] = [];
  beforeAll(async () => {
    world = await startPipeline();
  });
  afterAll(() => world.close());

  test('decodes every answer of every operation it shares with the product', async () => {
    const offered = new Set(
      [...INGEST_OPERATIONS, ...API_ROUTES].map(({ method, path }) => unnamed(`${method} ${path}`)),
    );
    const operations = sdkOperations();
    expect(operations.length).toBeGreaterThan(150);
    const served = new Set(operations.filter((operation) => offered.has(unnamed(operation))));
    const walker = createWalker({
      key: world.api.key,
      operations,
      served,
      serverOf: (operation) =>
        /^POST \/events(\/bulk)?$/.test(operation) ? world.edge : world.api.app,
    });

    const catalog = await walkCatalog(walker);
    const customerId = await walkCustomers(walker, catalog.planId);
    await walkCouponsTaxesCosts(walker, customerId);
    await walkTenancy(walker, world.api.scope.tenant_id);
    await walkEvents(walker, world, catalog);
    const { subscriptionId } = await walkSubscriptions(walker, customerId);
    await walkInvoices(walker, customerId, subscriptionId);
    await walkWallets(walker, customerId);
    await walkOperations(walker);

    exchanges = walker.exchanges;

    const nameOf = (line: string): string => line.split(': ')[0]!;
    const unexpected = walker.undecoded.filter((line) => !UNDECODABLE.includes(nameOf(line)));
    process.stdout.write(
      `typed client: ${walker.called.size} operations, ${walker.calls} calls, ${unexpected.length} undecoded\n`,
    );
    expect(unexpected).toEqual([]);
    expect(walker.undecoded.map(nameOf)).toEqual(UNDECODABLE);
    const uncalled = [...served].filter((operation) => !walker.called.has(operation));
    expect(uncalled.sort()).toEqual([...ELSEWHERE].sort());
  });

  describeWith('PYTHON_CLIENT', 'in Python', (interpreter) => {
    test('decodes the same answers', () => {
      const report = decodeInPython(interpreter, exchanges);
      const unexpected = report.undecoded.filter(
        (line) => !UNDECODABLE_IN_PYTHON.some((known) => known.test(line)),
      );
      process.stdout.write(
        `Python client: ${report.operations} operations, ${report.answers} answers, ${unexpected.length} undecoded\n`,
      );
      expect(unexpected).toEqual([]);
      expect(
        UNDECODABLE_IN_PYTHON.filter((known) => !report.undecoded.some((line) => known.test(line))),
      ).toEqual([]);
      expect(report.operations).toBeGreaterThan(130);
    });
  });
});

/** @param python An interpreter that has the package `flexprice`. */
function decodeInPython(python: string, exchanges: readonly Exchange[]): PythonReport {
  const script = fileURLToPath(new URL('typed-client/decode.py', import.meta.url));
  const input = exchanges.map((exchange) => JSON.stringify(exchange)).join('\n');
  return JSON.parse(execFileSync(python, [script], { input, encoding: 'utf8' }));
}

interface PythonReport {
  readonly operations: number;
  readonly answers: number;
  readonly undecoded: readonly string[];
}
