import type { TestApi } from './api.ts';
import { catalogOf } from './catalog.ts';

/** A plan with copies of one fee of 0.01, made below the API because ten thousand requests take minutes. */
export async function planOfMany(api: TestApi, prices: number): Promise<{ id: string }> {
  const catalog = catalogOf(api);
  const plan = await catalog.plan();
  const first = await catalog.fixed(plan, '0.01');
  await api.pool`
    insert into prices overriding user value
    select (jsonb_populate_record(p, jsonb_build_object('id', ids.id, 'parent_price_id', ids.id))).*
      from prices p,
           lateral (select p.id || lpad(n::text, 6, '0') as id
                      from generate_series(2, ${prices}::integer) n) ids
     where p.id = ${first.id}`;
  return plan;
}
