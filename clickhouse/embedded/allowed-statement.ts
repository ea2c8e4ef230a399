import { notServed } from './errors.ts';

/**
 * Table functions, functions (`file`) and engines that read or write outside of the data directory: files,
 * other hosts, other processes, tables of other servers. The product needs none of them. An injected
 * statement, or a local user with the password, therefore reaches only the tables.
 */
const OUTSIDE: ReadonlySet<string> = new Set([
  'file', 'filecluster', 'filelog', 'url', 'urlcluster', 'urlwithheaders', 'remote', 'remotesecure',
  'cluster', 'clusterallreplicas', 'distributed', 'executable', 'executablepool', 'python', 'input',
  's3', 's3cluster', 's3queue', 'gcs', 'oss', 'cosn', 'azureblobstorage', 'azureblobstoragecluster',
  'azurequeue', 'hdfs', 'hdfscluster', 'hudi', 'hudicluster', 'deltalake', 'deltalakecluster',
  'deltalakelocal', 'deltalakes3', 'deltalakeazure', 'deltalakes3cluster', 'deltalakeazurecluster',
  'iceberg', 'icebergs3', 'icebergazure', 'iceberghdfs', 'iceberglocal', 'icebergcluster',
  'icebergs3cluster', 'icebergazurecluster', 'iceberghdfscluster', 'paimon', 'paimons3', 'paimonlocal',
  'paimonazure', 'paimonhdfs', 'mysql', 'postgresql', 'materializedpostgresql', 'materializedmysql',
  'mongodb', 'redis', 'sqlite', 'odbc', 'jdbc', 'arrowflight', 'ytsaurus', 'kafka', 'rabbitmq', 'nats',
  'dictionary', 'catboostevaluate', 'hive', 'datalakecatalog', 'backup', 'disk', 'filesystem',
]); // prettier-ignore

/** Clauses that the product does not use. */
const WORDS: ReadonlySet<string> = new Set(['outfile', 'infile']);

/**
 * Statements that change the server, its users or anything outside of it. `system stop merges` and similar
 * are for tests.
 */
const STATEMENTS: ReadonlySet<string> = new Set([
  'backup', 'restore', 'attach', 'detach', 'grant', 'revoke', 'kill',
]); // prettier-ignore
const OBJECTS: ReadonlySet<string> = new Set([
  'function', 'user', 'role', 'dictionary', 'named', 'quota', 'profile', 'settings', 'workload', 'resource',
]); // prettier-ignore
/**
 * Refuses a statement that reaches outside of the data directory or administers the server. Texts in quotes
 * and comments are skipped; a quoted name counts as the name. Linear in the length of the text.
 */
export function refuseOutside(sql: string): void {
  let previous = '';
  let isStart = true;
  let isCommand = false;
  for (const { text, called } of words(sql)) {
    const word = text.toLowerCase();
    if (called && OUTSIDE.has(word)) throw notServed(`${word}()`);
    if (WORDS.has(word)) throw notServed(word);
    if (isStart && STATEMENTS.has(word)) throw notServed(word);
    if (/^(create|alter|drop|replace)$/.test(previous) && OBJECTS.has(word))
      throw notServed(`${previous} ${word}`);
    if (isStart && word === 'system') isCommand = true;
    else if (isCommand && !SYSTEM_COMMANDS.has(word)) throw notServed(`system ${word}`);
    else isCommand = false;
    // An engine may be written without parentheses.
    if (previous === 'engine' && OUTSIDE.has(word)) throw notServed(`engine ${word}`);
    previous = word;
    isStart = word === ';';
  }
}

/** `system.parts` is a table; of the commands, the tests stop and start merges. */
const SYSTEM_COMMANDS: ReadonlySet<string> = new Set(['stop', 'start', '.']);

interface Word {
  readonly text: string;
  /** An opening parenthesis follows. */
  readonly called: boolean;
}

/** Names, dots and semicolons of a statement, without texts, numbers and comments. */
function* words(sql: string): Generator<Word> {
  let pending: string | null = null;
  for (const match of sql.matchAll(TOKEN)) {
    const { name, quoted, mark } = match.groups as Record<string, string | undefined>;
    if (name === undefined && quoted === undefined && mark === undefined) continue;
    if (pending !== null) yield { text: pending, called: mark === '(' };
    pending = name ?? (quoted === undefined ? null : unquoted(quoted));
    if (mark === ';' || mark === '.') yield { text: mark, called: false };
  }
  if (pending !== null) yield { text: pending, called: false };
}

/** An escaped name could be any name; the product writes none. */
function unquoted(quoted: string): string {
  if (quoted.includes('\\')) throw notServed('an escaped name');
  return quoted.slice(1, -1);
}

/**
 * Comments and texts (also `$tag$ … $tag$` and typographic quotes) are matched in order to be skipped; every
 * other character is a token.
 */
const TOKEN =
  /--[^\n]*|#[! ][^\n]*|\/\*[^]*?(?:\*\/|$)|\$(?<tag>\w*)\$[^]*?(?:\$\k<tag>\$|$)|'(?:[^'\\]|\\[^])*(?:'|$)|‘[^’]*(?:’|$)|(?<quoted>`(?:[^`\\]|\\[^])*(?:`|$)|"(?:[^"\\]|\\[^])*(?:"|$)|“[^”]*(?:”|$))|(?<name>[\p{L}_][\p{L}\p{N}_]*)|[0-9][\w.]*|(?<mark>\S)/gu;
