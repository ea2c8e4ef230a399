/** Runs a ClickHouse statement; answers the rows of a query as arrays of text. */
export async function clickhouseRows(url: string, sql: string): Promise<string[][]> {
  const target = new URL(url);
  const database = target.pathname.slice(1);
  const headers: Record<string, string> = {};
  if (target.username !== '')
    headers['authorization'] = `Basic ${btoa(`${target.username}:${target.password}`)}`;
  const query = `${target.origin}/?${database === '' ? '' : `database=${database}`}`;
  const response = await fetch(query, {
    method: 'POST',
    headers,
    body: /^select/i.test(sql) ? `${sql} FORMAT TabSeparated` : sql,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`ClickHouse: ${text.slice(0, 500)}`);
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split('\t'));
}
