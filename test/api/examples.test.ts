import { apiDocument } from '../../api/app.ts';
import { EXAMPLE_IDS, EXAMPLES } from '../../api/conventions/examples.ts';
import { INGEST_OPERATIONS } from '../../ingest/routes.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { startIngest, type TestIngest } from './ingest/start-ingest.ts';

interface Documented {
  readonly post: {
    readonly requestBody: { readonly content: Record<string, { readonly example?: object }> };
    readonly responses: Record<string, unknown>;
  };
}
const document = apiDocument(INGEST_OPERATIONS) as { paths: Record<string, Documented> };
const pathOf = (operation: string): string => operation.split(' ')[1]!;
const isIngest = (operation: string): boolean =>
  INGEST_OPERATIONS.some(({ path }) => path === pathOf(operation));

describe('examples of the document', () => {
  let api: TestApi;
  let ingest: TestIngest;
  beforeAll(async () => {
    [api, ingest] = [await startTestApi(), await startIngest()];
  });
  afterAll(async () => {
    await api.close();
    await ingest.close();
  });

  test('every one is shown with its operation', () => {
    for (const [operation, example] of Object.entries(EXAMPLES)) {
      const { post } = document.paths[pathOf(operation)]!;
      expect(post.requestBody.content['application/json']!.example).toEqual(example);
    }
  });

  // In the order of the list, each with the ids of what the ones before it made.
  const made = new Map<string, string>();
  test.each(Object.entries(EXAMPLES))('%s answers its success status', async (operation, body) => {
    let text = JSON.stringify(body);
    for (const [shown, id] of made) text = text.replaceAll(shown, id);
    const path = `/v1${pathOf(operation)}`;
    const answer = isIngest(operation)
      ? await ingest.post(path, text)
      : await api.post(path, JSON.parse(text) as object);
    const { responses } = document.paths[pathOf(operation)]!.post;
    expect([operation, answer.body, String(answer.status)]).toEqual([
      operation,
      answer.body,
      Object.keys(responses).find((status) => status.startsWith('2')),
    ]);
    expect(answer.headers['x-ignored-fields']).toBeUndefined();
    const shown = Object.values(EXAMPLE_IDS).find(
      (id) => id.split('_')[0] === String(answer.body.id).split('_')[0],
    );
    if (shown !== undefined) made.set(shown, answer.body.id as string);
  });

  test('every id that an example names was made by one', () => {
    expect([...made.keys()].sort()).toEqual(Object.values(EXAMPLE_IDS).sort());
  });
});
