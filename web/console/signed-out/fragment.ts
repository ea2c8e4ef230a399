/**
 * What the link carries after its `#`, where no server sees it. Read once when the forms are loaded, and
 * erased from the address at once.
 */
export const FRAGMENT: ReadonlyMap<string, string> = take();

function take(): ReadonlyMap<string, string> {
  const values = new Map(new URLSearchParams(location.hash.slice(1)));
  if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search);
  return values;
}
