import { compare } from './drift/compare.ts';
import { documentedOperations } from './drift/document.ts';
import { readReference, type Reference } from './drift/reference.ts';
import { readMeant, report, type MeantDifferences } from './drift/report.ts';
import { CONTRACT_DIRECTORY, runDrift } from './drift/run-drift.ts';
import { LEAF, type Operation, type Shape } from './drift/shape.ts';

const object = (model: string, keys: Record<string, Shape>): Shape => ({
  kind: 'object',
  model,
  keys: () => new Map(Object.entries(keys)),
});
const operation = (given: Partial<Operation>): Operation => ({
  name: 'POST /plans',
  status: 201,
  answer: LEAF,
  request: LEAF,
  query: [],
  ...given,
});
const reference = (...operations: Operation[]): Reference => ({
  client: new Map(operations.map((each) => [each.name, each])),
  service: new Map(),
});
const nothingMeant: MeantDifferences = { route: {}, key: {}, status: {}, field: {} };

describe('the drift check', () => {
  const document = (schema: object, status = '201') =>
    documentedOperations({
      paths: {
        '/plans': {
          post: {
            parameters: [],
            responses: { [status]: { content: { 'application/json': { schema } } } },
          },
        },
      },
      components: { schemas: { Plan: { properties: { id: {}, prices: {} } } } },
    });
  const wanted = operation({
    answer: object('PlanModel', {
      id: LEAF,
      prices: { kind: 'array', item: () => object('PriceModel', { amount: LEAF }) },
    }),
  });

  test('finds routes, keys below lists and references, statuses and fields that are missing', () => {
    const names = (ours: ReadonlyMap<string, Operation>, ...theirs: Operation[]) =>
      compare(ours, reference(...theirs)).map(({ kind, name }) => `${kind} ${name}`);
    const plan = { $ref: '#/components/schemas/Plan' };
    expect(names(document(plan), wanted)).toEqual([]);
    const empty = { properties: { prices: { items: { anyOf: [{ properties: {} }, {}] } } } };
    expect(names(document(empty, '200'), wanted)).toEqual([
      'status POST /plans',
      'key PlanModel.id',
      'key PriceModel.amount',
    ]);
    expect(names(new Map(), wanted)).toEqual(['route POST /plans']);
    const request = object('', { name: LEAF });
    expect(
      names(
        new Map([['POST /plans', operation({ request: object('', {}) })]]),
        operation({ request, query: ['expand'] }),
      ),
    ).toEqual(['field POST /plans name', 'field POST /plans ?expand']);
  });

  test('a difference is unlisted unless the list has its name or a matching pattern', () => {
    const differences = compare(new Map(), reference(wanted, operation({ name: 'GET /plans/{}' })));
    expect(report(differences, nothingMeant).unlisted).toHaveLength(2);
    const meant = { ...nothingMeant, route: { 'GET /plans*': 'not offered yet' } };
    const { unlisted, text } = report(differences, meant);
    expect(unlisted.map(({ name }) => name)).toEqual(['POST /plans']);
    expect(text).toContain('routes not offered yet: 1\nroute: POST /plans');
  });

  test('an entry that allows nothing is stale, by its kind', () => {
    const differences = compare(new Map(), reference(wanted));
    const meant = {
      ...nothingMeant,
      route: { 'POST /p*': 'rulings 1', 'GET /plans': 'rulings 1' },
      field: { 'POST /plans': 'rulings 1' },
    };
    const { stale, text } = report(differences, meant);
    expect(stale).toEqual(['route: GET /plans', 'field: POST /plans']);
    expect(text).toContain('contract: 1 meant, 0 not listed, 2 stale entries');
  });
});

const present = readReference(CONTRACT_DIRECTORY) !== null;
// Without the contract the summary lists the suite as skipped, with the reason.
const describeDrift = present ? describe : describe.skip;
describeDrift(present ? 'drift' : 'drift [needs SHARED_DIRECTORY]', () => {
  test('every difference from the reference is intended and has its rule', () => {
    expect(runDrift()!.unlisted).toEqual([]);
  });

  test('every entry of the list matches an existing difference', () => {
    expect(runDrift()!.stale).toEqual([]);
  });

  test('nothing is listed as not offered yet', () => {
    const rules = Object.values(readMeant()).flatMap((entries) => Object.values(entries));
    expect(rules.filter((rule) => rule === 'not offered yet')).toEqual([]);
  });
});
