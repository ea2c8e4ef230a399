import { notServed } from './errors.ts';

/**
 * What reads or writes outside of the data directory: files, other hosts, other processes, other servers'
 * tables. As table functions, as functions (`file`) and as engines. The product needs none of them, so a
 * statement that was smuggled in, or a local user with the password, gets no further than the tables.
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

/** Words that begin or are clauses that the product has no use for. */
const WORDS: ReadonlySet<string> = new Set(['outfile', 'infile']);

/** Statements that change the server, its users or what lies outside. `system stop merges` and the like are for tests. */
const STATEMENTS: ReadonlySet<string> = new Set([
  'backup', 'restore', 'attach', 'detach', 'grant', 'revoke', 'kill',
]); // prettier-ignore
const OBJECTS: ReadonlySet<string> = new Set([
  'function', 'user', 'role', 'dictionary', 'named', 'quota', 'profile', 'settings', 'workload', 'resource',
]); // prettier-ignore
/**
 * Refuses a statement that leaves the data directory or administers the server. Text in quotes and
 * comments is left out; a quoted name counts as the name. Linear in the text.
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
    // An engine may stand without its parentheses.
    if (previous === 'engine' && OUTSIDE.has(word)) throw notServed(`engine ${word}`);
    previous = word;
    isStart = word === ';';
  }
}

/** `system.parts` is a table; of commands the tests stop and start merges. */
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

/** A name with escapes in it could be any: the product writes none. */
function unquoted(quoted: string): string {
  if (quoted.includes('\\')) throw notServed('an escaped name');
  return quoted.slice(1, -1);
}

/**
 * Comments and texts (also `$tag$ … $tag$` and typographic quotes) are matched so that they are passed
 * over; every other character is a mark.
 */
const TOKEN =
  /--[^\n]*|#[! ][^\n]*|\/\*[^]*?(?:\*\/|$)|\$(?<tag>\w*)\$[^]*?(?:\$\k<tag>\$|$)|'(?:[^'\\]|\\[^])*(?:'|$)|‘[^’]*(?:’|$)|(?<quoted>`(?:[^`\\]|\\[^])*(?:`|$)|"(?:[^"\\]|\\[^])*(?:"|$)|“[^”]*(?:”|$))|(?<name>[\p{L}_][\p{L}\p{N}_]*)|[0-9][\w.]*|(?<mark>\S)/gu;
