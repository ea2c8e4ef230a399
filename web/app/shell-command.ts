/** A request to the API to be pasted into a terminal. */
export const postCommand = (path: string, body: unknown, key: string): string =>
  [
    `curl -X POST ${location.origin}/v1${path} \\`,
    `  -H 'x-api-key: ${key}' -H 'content-type: application/json' \\`,
    `  -d ${quoted(JSON.stringify(body))}`,
  ].join('\n');

/** One word of a shell: a name in it must not end the quotes. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
