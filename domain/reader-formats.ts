/**
 * Formats of `Intl` by their parameters. To make one takes some hundred times longer than to use it, and a page of a
 * list uses a few of them a hundred times. They depend on nothing else, so that a kept one is as good as a new one.
 */
export function keptFormats<Parameters extends readonly unknown[], Format>(
  make: (...parameters: Parameters) => Format,
): (...parameters: Parameters) => Format {
  const kept = new Map<string, Format>();
  return (...parameters) => {
    const key = JSON.stringify(parameters);
    const found = kept.get(key);
    if (found !== undefined) return found;
    const made = make(...parameters);
    if (kept.size >= KEPT_MAX) kept.clear();
    kept.set(key, made);
    return made;
  };
}

/** More than the zones and the currencies of one page. */
const KEPT_MAX = 200;
