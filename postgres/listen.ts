import { setTimeout as sleep } from 'node:timers/promises';
import type postgres from 'postgres';
import { connectClient, type Pool, type ServerOptions } from './driver-client.ts';

const RETRY_MS = 100;
const RETRY_MS_MAX = 5_000;

/**
 * Listens to a channel over a connection of its own until `unlisten`. Rejects if that connection cannot be opened;
 * if it is lost later, another one is opened. `onListen` is called for each connection: notifications from before
 * it are lost.
 */
export async function listen(
  options: ServerOptions,
  channel: string,
  onNotification: (payload: string) => void,
  onListen: () => void = () => {},
): Promise<Pick<postgres.ListenMeta, 'state' | 'unlisten'>> {
  let current: Pool | null = null;
  let isStopped = false;
  const open = async (): Promise<postgres.RowList<postgres.Row[]>> => {
    const client = connectClient({
      ...options,
      onNotification: (_channel, payload) => onNotification(payload),
      onClose: () => {
        if (client === current) void openAgain();
      },
    });
    try {
      const answer = await client`listen ${client(channel)}`;
      current = client;
      if (isStopped) await close();
      else onListen();
      return answer;
    } catch (error) {
      void client.end({ timeout: 0 });
      throw error;
    }
  };
  const openAgain = async (): Promise<void> => {
    await close();
    for (let wait = RETRY_MS; current === null && !isStopped; wait *= 2)
      await open().catch(() => sleep(Math.min(wait, RETRY_MS_MAX), undefined, { ref: false }));
  };
  const close = async (): Promise<void> => {
    const client = current;
    current = null;
    await client?.end({ timeout: 0 });
  };
  const { state } = await open();
  return {
    state,
    async unlisten() {
      isStopped = true;
      await close();
    },
  };
}
