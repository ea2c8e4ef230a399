const PING_MS_MAX = 2_000;

/** The result of the work, or null if it fails or takes longer than a health check may. */
export async function withinTime<Value>(work: PromiseLike<Value>): Promise<Value | null> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), PING_MS_MAX);
  });
  return Promise.race([Promise.resolve(work).catch(() => null), limit]).finally(() =>
    clearTimeout(timer),
  );
}
