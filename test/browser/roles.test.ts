import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/requires.ts';
import { settled } from './inspect.ts';
import { pathsOf, withId } from './paths.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

/** What a page offers to people who change nothing. */
const READING = [
  'CSV',
  'Check again',
  'Export',
  'JSONL',
  'Next',
  'PDF',
  'Pause',
  'Previous',
  'Verify the chain',
  'Why not other meters?',
];
/** Buttons that name the record which they copy or unfold. */
const OF_RECORD = /^(Copy|Show) /;
/** Pages that are forms of new or changed records. */
const FORM = /\/(new|edit)$/;

describeInBrowser('roles', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
  });
  afterAll(() => shown?.close());

  test('a reader sees every page, is offered nothing that changes records, and no form', async () => {
    const { api } = shown.world;
    const reader = await api.newCaller({ beside: api, roles: ['all_reader'] });
    await api.pool`
      update users set password_hash = (select password_hash from users where id = ${api.user_id})
       where id = ${reader.user_id}`;
    const { page, problems } = await shown.signedIn(`${reader.user_id}@example.test`);
    const base = page.url().replace(/\/$/, '');
    const offered = new Set<string>();
    const notAllowed: string[] = [];
    const look = async () => {
      await settled(page);
      for (const name of await buttonsOf(page)) if (!OF_RECORD.test(name)) offered.add(name);
    };
    for (const path of pathsOf('console')) {
      await page.goto(base + withId(path, shown.records.get(path)));
      await look();
      const refusal = page.getByText('Your roles do not allow this page');
      if ((await refusal.count()) > 0) notAllowed.push(path);
      for (const tab of await page.getByRole('main').getByRole('tab').all()) {
        await tab.click();
        await look();
      }
    }
    expect(problems).toEqual([]);
    expect(notAllowed).toEqual(pathsOf('console').filter((path) => FORM.test(path)));
    expect([...offered].sort()).toEqual(READING);
    const tried = await reader.post('/v1/plans', { name: 'Growth' });
    expect([tried.status, tried.body.message]).toEqual([
      403,
      expect.stringContaining('plan:write'),
    ]);
  });
});

/** Names of the buttons of the page without those of the menu, and without those that sort a table. */
const buttonsOf = async (page: Page): Promise<string[]> =>
  await page
    .getByRole('main')
    .locator(':is(button, [role=button]):visible:not(th *)')
    .evaluateAll((all) => all.map((one) => one.getAttribute('aria-label') ?? one.textContent));
