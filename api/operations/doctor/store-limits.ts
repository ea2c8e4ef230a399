import type { PartitionParts } from '../../../clickhouse/reading/most-parts.ts';
import type { ConnectionFacts } from '../../../postgres/tables/service-facts.ts';

/** Merges keep a partition far below the number of parts at which inserts are delayed. */
const PARTS_SHARE_MAX = 0.3;
const CONNECTIONS_SHARE_MAX = 0.8;

/** Whether merges do not keep up with inserts: sooner or later inserts are slowed down. */
export const hasManyParts = ({ parts, delayed_at }: PartitionParts): boolean =>
  parts > delayed_at * PARTS_SHARE_MAX;

/** Whether the server slows down inserts into the partition. */
export const delaysInserts = ({ parts, delayed_at }: PartitionParts): boolean =>
  parts >= delayed_at;

/** Whether another process may soon find no free connection. */
export const hasFewConnections = ({ used, allowed }: ConnectionFacts): boolean =>
  used > allowed * CONNECTIONS_SHARE_MAX;
