/**
 * The part of a link after its `#`, which no server sees. Read once when the forms are loaded, then erased from
 * the address.
 */
export const FRAGMENT: ReadonlyMap<string, string> = take();

function take(): ReadonlyMap<string, string> {
  const values = new Map(new URLSearchParams(location.hash.slice(1)));
  if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search);
  return values;
}
