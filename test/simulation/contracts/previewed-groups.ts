import { invoicesOf } from './found-invoices.ts';
import { iso } from './naive-calendar.ts';
import { modify, OWN_DRAWS, type Draw, type Previewed } from './previewed-changes.ts';

/** A child joins or leaves its parent; requests are made on either of the two. */
const grouping: Draw = ({ random, group }, { id }) => {
  const [parent, ...children] = group.map(({ subscription }) => subscription.id);
  if (children.length === 0) return null;
  const child = id === parent ? random.pick(children) : id;
  const action = random.pick(['add', 'remove']);
  const [of, named] = random.chance(0.5)
    ? [parent, { child_subscription_ids: [child] }]
    : [child, { parent_subscription_id: parent }];
  const params = { action, ...named };
  const what = `grouping of ${of} ${JSON.stringify(params)}`;
  return modify(what, `/subscriptions/${of}`, 'grouped_invoicing', params);
};

/** Late usage of a child, of which the invoice of its parent tells. */
const lateUsageOfChild: Draw = async ({ world, random, group, offers, contract }) => {
  const services = contract.services.filter(({ max }) => !max);
  const final = (await invoicesOf(world, group[0]!.subscription)).filter(
    ({ invoice_status, billing_reason, line_items }) =>
      invoice_status === 'FINALIZED' &&
      billing_reason === 'SUBSCRIPTION_CYCLE' &&
      line_items.some((row: any) => row.subscription_id === offers.subscription.id),
  );
  if (final.length === 0 || services.length === 0) return null;
  const invoice = random.pick(final);
  const [start, end] = [Date.parse(invoice.period_start), Date.parse(invoice.period_end)];
  const value = String((random.below(400) - 150) / 4);
  const at = start + Math.floor((end - start) * random.next());
  const meter = offers.meters.get(random.pick(services).name)!;
  await world.usage.use(meter, offers.customer, iso(at), value);
  const body = { as: random.pick(['invoice', 'credit_note']) };
  const path = `/invoices/${invoice.id}/late-usage`;
  return { what: `late usage ${value} ${JSON.stringify(body)}`, path, body, form: 'late usage' };
};

/** What may happen to a contract of a group. */
export const drawsOf = ({ group, offers }: Previewed): readonly Draw[] =>
  offers.subscription.id === group[0]!.subscription.id
    ? [...OWN_DRAWS, grouping]
    : [...OWN_DRAWS, grouping, grouping, lateUsageOfChild, lateUsageOfChild];
