import type { Random } from '../random.ts';
import { clickhouseRows } from './compare/clickhouse-rows.ts';
import type { Ledger } from './ledger.ts';
import type { Tree } from './tree.ts';

interface PlantWorld {
  readonly tree: Pick<Tree, 'clickhouseUrl'>;
  readonly ledger: Ledger;
  readonly random: Random;
}

/** Beyond every offset of a run, and within the epoch. */
const OTHER_POSITION = 2n ** 48n;
const place = (id: string): string =>
  `(partition, position) in (select partition, position from events_raw_v1 where event_id = '${id}')`;
const SYNCHRONOUS = 'settings mutations_sync = 1';

/** Damage that the comparison must find, as statements on the rows of one event. */
const PLANTS: Readonly<Record<string, (id: string) => readonly string[]>> = {
  /** The event is in no table. */
  lost: (id) => [
    `alter table meter_usage_v1 delete where ${place(id)} ${SYNCHRONOUS}`,
    `alter table events_raw_v1 delete where event_id = '${id}' ${SYNCHRONOUS}`,
  ],
  /** A second copy of the event counts. */
  double: (id) => [
    `insert into events_raw_v1 select * replace (position + ${OTHER_POSITION} as position)
       from events_raw_v1 final where event_id = '${id}' and is_canonical`,
  ],
  /** The event exists, and no meter counts it. */
  usage: (id) => [`alter table meter_usage_v1 delete where ${place(id)} ${SYNCHRONOUS}`],
};

/** Refuses unknown kinds of damage. */
export function checkPlants(names: readonly string[]): void {
  const unknown = names.filter((name) => PLANTS[name] === undefined);
  if (unknown.length > 0)
    throw new Error(
      `There is no plant ${unknown.join(', ')}. There are: ${Object.keys(PLANTS).join(', ')}`,
    );
}

/** Damages the stored usage after a run. The comparison must find the damage. */
export async function plantDamage(
  names: readonly string[],
  { tree, ledger, random }: PlantWorld,
  say: (text: string) => void,
): Promise<void> {
  const taken = new Set<string>();
  for (const name of names) {
    let event = ledger.pick(random);
    while (event !== undefined && taken.has(event.event_id)) event = ledger.pick(random);
    if (event === undefined) throw new Error('There is no event to damage.');
    taken.add(event.event_id);
    for (const statement of PLANTS[name]!(event.event_id))
      await clickhouseRows(tree.clickhouseUrl, statement);
    say(`planted: ${name} of ${event.event_id}`);
  }
}
