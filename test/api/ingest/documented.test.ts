import { apiDocument } from '../../../api/app.ts';
import { INGEST_OPERATIONS } from '../../../ingest/routes.ts';

test('the document of the product has the routes of the edge, with their schemas', () => {
  const { paths } = JSON.parse(JSON.stringify(apiDocument(INGEST_OPERATIONS))) as {
    paths: Record<
      string,
      Record<string, { requestBody: object; responses: Record<string, object> }>
    >;
  };
  for (const path of ['/events', '/events/bulk']) {
    const operation = paths[path]!['post']!;
    expect(operation.requestBody).toBeDefined();
    expect(Object.keys(operation.responses)).toContain('202');
  }
});
