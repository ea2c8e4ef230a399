/**
 * The part of the address behind the #, which is erased: the secret of a link stays in the memory of the page, not
 * in the history of the browser. A link that is opened again in the same tab loads the page again.
 */
export function takeFragment(): string {
  const fragment = location.hash.slice(1);
  history.replaceState(null, '', location.pathname + location.search);
  addEventListener('hashchange', () => location.reload());
  return fragment;
}
