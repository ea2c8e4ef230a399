import type { Page, Route } from 'playwright-core';

/**
 * Requests to the API. Files of the pages are no part of it: a browser keeps them after the first visit. Nor is
 * the exchange of the cookie for a token, before which nothing can be asked.
 */
const isCounted = (url: string): boolean => new URL(url).pathname.startsWith('/v1/');

/**
 * The requests to the API that a page makes while it is opened, in rounds: every request of a round is delayed
 * until the page sends no more, then all are passed on. The number of rounds is the depth of the waterfall,
 * regardless of the speed of the machine.
 */
export async function roundsOf(page: Page, address: string): Promise<string[][]> {
  const held: Route[] = [];
  const rounds: string[][] = [];
  const asked = new Set<string>();
  let isOver = false;
  const hold = (route: Route): void => {
    held.push(route);
  };
  await page.route((url) => isCounted(url.href), hold);
  await page.goto(address);
  // A held request is pending: this is reached when the last round was answered and no file is awaited.
  void page.waitForLoadState('networkidle').then(() => (isOver = true));
  while (!isOver || held.length > 0) {
    await atRest(page, held);
    const round = held.splice(0);
    const names = round.map((route) => nameOf(route));
    // What is asked again and again, for figures of now, is no part of opening the page.
    if (names.some((name) => !asked.has(name))) rounds.push(names);
    for (const name of names) asked.add(name);
    // A request that the page has aborted is answered too, without a reader.
    await Promise.all(round.map(async (route) => route.fulfill({ response: await route.fetch() })));
  }
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  return rounds;
}

/** The page has been idle three times, and asked nothing between. */
async function atRest(page: Page, held: readonly Route[]): Promise<void> {
  await page.waitForLoadState('load');
  for (let calm = 0, seen = -1; calm < 3;) {
    calm = held.length === seen ? calm + 1 : 0;
    seen = held.length;
    await page.evaluate(idle);
  }
}

/** Runs in the page: its own files are there, and its thread has nothing to do. */
function idle(): Promise<void> {
  const { requestIdleCallback: whenIdle } = globalThis as unknown as {
    requestIdleCallback(run: () => void): void;
  };
  return new Promise((resolve) => whenIdle(() => setTimeout(() => whenIdle(resolve), 20)));
}

function nameOf(route: Route): string {
  const request = route.request();
  return `${request.method()} ${new URL(request.url()).pathname}`;
}
