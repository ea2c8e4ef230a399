import type { CDPSession, Page } from 'playwright-core';

/**
 * Requests to the API. Files of the pages are no part of it: a browser keeps them after the first visit. Nor is
 * the exchange of the cookie for a token, before which nothing can be asked.
 */
const COUNTED = '*://*/v1/*';

/** A request that the browser has not sent yet. */
interface Held {
  readonly id: string;
  readonly name: string;
}

/**
 * The requests to the API that a page makes while it is opened, in rounds: every request of a round is delayed
 * until the page sends no more, then all are passed on. The number of rounds is the depth of the waterfall,
 * regardless of the speed of the machine. The browser's own protocol holds them: Playwright's routes turn off the
 * cache, so that each page would load all scripts again.
 */
export async function roundsOf(page: Page, address: string): Promise<string[][]> {
  const session = await page.context().newCDPSession(page);
  const held = await hold(session);
  const rounds: string[][] = [];
  const asked = new Set<string>();
  let isOver = false;
  await page.goto(address);
  // A held request is pending: this is reached when the last round was answered and no file is awaited.
  void page.waitForLoadState('networkidle').then(() => (isOver = true));
  while (!isOver || held.length > 0) {
    await atRest(page, held);
    const round = held.splice(0);
    const names = round.map(({ name }) => name);
    // What is asked again and again, for figures of now, is no part of opening the page.
    if (names.some((name) => !asked.has(name))) rounds.push(names);
    for (const name of names) asked.add(name);
    await Promise.all(round.map(({ id }) => passOn(session, id)));
  }
  await session.detach();
  return rounds;
}

/** Holds the requests from now on. Returns the list that they are added to. */
async function hold(session: CDPSession): Promise<Held[]> {
  const held: Held[] = [];
  session.on('Fetch.requestPaused', ({ requestId: id, request: { method, url } }) => {
    held.push({ id, name: `${method} ${new URL(url).pathname}` });
  });
  await session.send('Fetch.enable', { patterns: [{ urlPattern: COUNTED }] });
  return held;
}

/** A request that the page has aborted meanwhile is gone. */
const passOn = (session: CDPSession, requestId: string): Promise<unknown> =>
  session.send('Fetch.continueRequest', { requestId }).catch(() => {});

/** The page has been idle three times, and asked nothing between. */
async function atRest(page: Page, held: readonly Held[]): Promise<void> {
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
