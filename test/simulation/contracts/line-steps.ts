import type { BillingWorld } from '../../support/billing-world.ts';
import { syncPrices } from '../../support/price-sync.ts';
import type { Contract, LineEdit } from './contract.ts';
import { isRunning, prorationOf, type Step } from './contract-steps.ts';
import { iso } from './naive-calendar.ts';
import { feeTerms, ok, serviceTerms, termsOf } from './sell-offer.ts';
import type { Signed } from './sign-contract.ts';

/** Lines of the subscription are added, change their terms, or end. */
export function lineSteps(world: BillingWorld, contract: Contract, signed: Signed): Step[] {
  return contract.edits.flatMap((edit): Step[] => {
    if (edit.kind !== 'terms' || edit.version === undefined)
      return [{ at: edit.asked, run: () => editLine(world, contract, signed, edit) }];
    const { version, line, model } = edit;
    return [
      { at: version.at, run: () => changePrice(world, signed, line, termsOf(model)) },
      { at: version.synced, run: () => syncPrices(world.api, signed.plans[0]!) },
    ];
  });
}

/** The coupon of a line is removed from the line and added again, each from now on. */
export function lineCouponSteps(
  world: BillingWorld,
  { lineOff }: Contract,
  { subscription }: Signed,
): Step[] {
  if (lineOff?.away === undefined) return [];
  const { line, away } = lineOff;
  const change = (coupon_params: object) =>
    ok(world, `/subscriptions/${subscription.id}/modify/execute`, {
      ...{ type: 'coupon', coupon_params },
    });
  let coupon_code: string;
  const remove = async () => {
    const { id } = await lineOf(world, subscription, line);
    const { body } = await world.api.get(`/v1/subscriptions/${subscription.id}`);
    const own = (body.coupon_associations as any[]).find(
      ({ subscription_line_item_id: of, end_date }) => of === id && isRunning(world, end_date),
    );
    coupon_code = own.coupon.coupon_code;
    await change({ action: 'remove', coupon_association_id: own.id });
  };
  const add = async () => {
    const { id } = await lineOf(world, subscription, line);
    await change({ action: 'add', coupon_code, subscription_line_item_id: id });
  };
  return [
    { at: away.start, run: remove },
    { at: away.end, run: add },
  ];
}

/** The price of the plan for a line gets its next version. */
async function changePrice(
  { api }: BillingWorld,
  { prices }: Signed,
  line: string,
  terms: object,
): Promise<void> {
  const path = `/v1/prices/${prices.get(line)}`;
  const { status, body } = await api.put(path, terms);
  if (status !== 200) throw new Error(`${path}: ${JSON.stringify(body)}`);
  prices.set(line, body.id);
}

async function editLine(
  world: BillingWorld,
  contract: Contract,
  { subscription, meters }: Signed,
  edit: LineEdit,
): Promise<void> {
  const path = `/subscriptions/${subscription.id}/lineitems`;
  const proration = prorationOf(edit.prorated);
  const from = edit.at === edit.asked ? {} : { effective_from: iso(edit.at) };
  const begin = { start_date: iso(edit.at), ...proration };
  switch (edit.kind) {
    case 'fee': {
      const price = { type: 'FIXED', price_unit_type: 'FIAT', ...feeTerms(edit.fee, contract) };
      await ok(world, path, { price, quantity: String(edit.fee.quantity), ...begin });
      return;
    }
    case 'service': {
      const meter = meters.get(edit.service.name)!;
      const terms = serviceTerms(edit.service, meter, contract);
      await ok(world, path, {
        price: { type: 'USAGE', price_unit_type: 'FIAT', ...terms },
        ...begin,
      });
      return;
    }
    case 'terms':
    case 'end': {
      const line = await lineOf(world, subscription, edit.line);
      const own = `/v1/subscriptions/lineitems/${line.id}`;
      const answer =
        edit.kind === 'end'
          ? await world.api.delete(own, { ...from, ...proration })
          : await world.api.put(own, { ...termsOf(edit.model), ...from, ...proration });
      if (answer.status !== 200) throw new Error(`${own}: ${JSON.stringify(answer.body)}`);
      return;
    }
    default:
      return edit satisfies never;
  }
}

/** The running line of that name, the last one if another one follows it. */
async function lineOf(
  world: BillingWorld,
  { id }: { id: string },
  name: string,
): Promise<{ id: string }> {
  const { body } = await world.api.get(`/v1/subscriptions/${id}`);
  const lines = (body.line_items as any[]).filter(
    (line) => line.display_name === name && isRunning(world, line.end_date),
  );
  return lines.reduce((last, line) => (line.start_date > last.start_date ? line : last));
}
