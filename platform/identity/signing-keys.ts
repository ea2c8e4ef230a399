import { randomBytes } from 'node:crypto';
import type { Pool, Transaction } from '../../postgres/client.ts';
import { isoTime, type Clock } from '../clock.ts';

export interface SigningKey {
  readonly id: string;
  readonly secret: Uint8Array;
}

/** The keys that sign session tokens: one signs; its predecessors stay valid for a while. */
export interface SigningKeys {
  /** The newest key known to this process, which checks for a newer one every minute. */
  newest(): Promise<SigningKey>;
  /** Null for an unknown id and for an expired key. */
  find(id: string): Promise<SigningKey | null>;
}

const FRESH_MS = 60_000;
/** Unknown ids are looked up at most this often: a flood of them causes no load. */
const RETRY_MS = 1_000;
/** The lifetime of a token, plus the time a process may use an old key, plus a margin for clocks. */
const BELIEVED_MS = 20 * 60_000;

interface StoredKey extends SigningKey {
  readonly ends_at: string | null;
}

/** Creates the first key if there is none. */
export async function createSigningKeys(options: {
  readonly pool: Pool;
  readonly clock: Clock;
}): Promise<SigningKeys> {
  const { pool, clock } = options;
  await pool.begin(async (tx) => {
    await tx`lock table signing_keys in exclusive mode`;
    const [known] = await tx`select 1 from signing_keys where ends_at is null limit 1`;
    if (known === undefined) await insertKey(tx, clock);
  });
  let keys = await readKeys(pool);
  let readAt = clock.now();
  const readAgain = async (afterMs: number): Promise<void> => {
    if (clock.now() - readAt < afterMs) return;
    readAt = clock.now();
    keys = await readKeys(pool);
  };
  const find = (id: string): SigningKey | null => {
    const now = isoTime(clock.now());
    return keys.find((key) => key.id === id && (key.ends_at === null || key.ends_at > now)) ?? null;
  };
  return {
    async newest() {
      await readAgain(FRESH_MS);
      return keys[0]!;
    },
    async find(id) {
      await readAgain(FRESH_MS);
      const key = find(id);
      if (key !== null) return key;
      await readAgain(RETRY_MS);
      return find(id);
    },
  };
}

/** A new key signs from now on; older keys end when their last tokens have expired. Returns the new id. */
export async function rotateSigningKey(pool: Pool, clock: Clock): Promise<string> {
  return await pool.begin(async (tx) => {
    await tx`lock table signing_keys in exclusive mode`;
    await tx`
      update signing_keys set ends_at = ${isoTime(clock.now() + BELIEVED_MS)} where ends_at is null`;
    await tx`delete from signing_keys where ends_at <= ${isoTime(clock.now())}`;
    return await insertKey(tx, clock);
  });
}

async function insertKey(tx: Transaction, clock: Clock): Promise<string> {
  const id = randomBytes(8).toString('hex');
  const key = { id, secret: randomBytes(64), created_at: isoTime(clock.now()) };
  await tx`insert into signing_keys ${tx(key)}`;
  return id;
}

/** The signing key first. */
const readKeys = (pool: Pool): Promise<StoredKey[]> => pool<StoredKey[]>`
  select id, secret, ends_at from signing_keys order by ends_at is null desc, created_at desc`;
