import { startEmbeddedClickHouse } from '../../../clickhouse/embedded/server.ts';

/** A parent to be killed: starts a server below the given directory and prints its process id. */
const server = await startEmbeddedClickHouse({ directory: process.argv[2]! });
process.stdout.write(`${server.pid}\n`);
setInterval(() => {}, 1_000);
