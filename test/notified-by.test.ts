import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WEBHOOK_EVENT_TYPES } from '../schemas/webhooks/event-types.ts';
import { NOTIFIED_BY } from './support/notifications.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Money 17.3: what is documented is sent. `shared-environment.js` holds each file to its types. */
describe('every documented notification', () => {
  const { sent_by, never_sent } = NOTIFIED_BY;

  test('is sent in the test file that is named for it, or is documented as never sent', () => {
    const known = [...Object.keys(sent_by), ...Object.keys(never_sent)];
    expect(known.toSorted()).toEqual([...WEBHOOK_EVENT_TYPES].toSorted());
    const files = [...new Set(Object.values(sent_by))];
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  test('docs/webhooks.md says which are never sent', () => {
    const page = readFileSync(join(root, 'docs/webhooks.md'), 'utf8');
    for (const type of Object.keys(never_sent)) expect(page).toContain(`\`${type}\``);
  });
});
