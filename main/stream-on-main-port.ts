import type { Pool } from '../postgres/client.ts';
import { readStops } from '../postgres/tables/stream-stops.ts';
import type { ComponentHealth } from './role.ts';
import { withinTime } from './within-time.ts';

/**
 * State of the stream as shown on the main port: never `down`, because answers here do not need it. Stopped
 * partitions are read from the database; a role on this machine is queried for the rest.
 */
export async function streamOnMainPort(
  pool: Pool,
  peers: readonly number[],
): Promise<{ stream?: ComponentHealth }> {
  const stops = await withinTime(readStops(pool));
  if (stops !== null && stops.length > 0) return { stream: 'degraded' };
  const answers = await Promise.all(
    peers.map(async (port) =>
      withinTime(
        fetch(`http://127.0.0.1:${port}/readyz`).then(
          async (response) =>
            (await response.json()) as { components?: Record<string, ComponentHealth> | null },
        ),
      ),
    ),
  );
  const found = answers.flatMap((answer) => answer?.components?.['stream'] ?? []);
  if (found.length === 0) return {};
  return { stream: found.every((state) => state === 'up') ? 'up' : 'degraded' };
}
