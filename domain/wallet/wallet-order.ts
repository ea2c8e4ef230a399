import type { AllowedPriceType, PrepaidWallet } from '../invoicing/prepaid-credits.ts';
import { decimal, decimalText, type Decimal } from '../money.ts';
import { byText } from '../text-order.ts';
import { epochMs } from '../time/instant.ts';
import { spendableCredits, type CreditBlock } from './credit-block.ts';
import type { Wallet } from './wallet.ts';

/** A wallet of the invoiced customer with its blocks and what its config permits. */
export interface CandidateWallet {
  readonly wallet: Wallet;
  readonly blocks: readonly CreditBlock[];
  readonly allowed_price_types: readonly AllowedPriceType[];
  readonly created_at: string;
  /** Set if the invoice has amounts in the currency of the wallet; with money of the invoice for one unit of it. */
  readonly custom?: { readonly currency: string; readonly factor: string } | null;
}

/**
 * The wallets that pay an invoice with prepaid credits, in order of use (money 2.6.2): active,
 * PRE_PAID, in the invoice's currency or in the custom currency of the invoice (money 12.7), with credits that
 * may be used. The larger balance comes first, then the older wallet. `arrearsPeriodEnd` is the end of the period
 * that the invoice bills; null without a period.
 */
export function prepaidWalletOrder(
  candidates: readonly CandidateWallet[],
  currency: string,
  at: string,
  arrearsPeriodEnd: string | null,
): PrepaidWallet[] {
  return candidates
    .filter(
      ({ wallet, custom }) =>
        wallet.wallet_status === 'active' &&
        wallet.wallet_type === 'PRE_PAID' &&
        (wallet.currency === currency || wallet.currency === custom?.currency),
    )
    .map((candidate) => ({
      candidate,
      credits: spendableCredits(candidate.blocks, at, arrearsPeriodEnd),
    }))
    .filter(({ credits }) => credits.gt(0))
    .map(({ candidate, credits }) => ({
      candidate,
      credits,
      rate: rateOf(candidate),
      worth: credits.times(rateOf(candidate)),
    }))
    .sort(
      (left, right) =>
        right.worth.comparedTo(left.worth) ||
        epochMs(left.candidate.created_at) - epochMs(right.candidate.created_at) ||
        byText(left.candidate.wallet.id, right.candidate.wallet.id),
    )
    .map(({ candidate, credits, rate }) => ({
      id: candidate.wallet.id,
      credits_available: decimalText(credits),
      conversion_rate: decimalText(rate),
      allowed_price_types: candidate.allowed_price_types,
      ...(isCustom(candidate) ? { custom_currency: candidate.wallet.currency } : {}),
    }));
}

const isCustom = ({ wallet, custom }: CandidateWallet): boolean =>
  custom != null && wallet.currency === custom.currency;

/** Money of the invoice for one credit. */
const rateOf = (candidate: CandidateWallet): Decimal =>
  decimal(candidate.wallet.conversion_rate).times(
    isCustom(candidate) ? candidate.custom!.factor : '1',
  );

/** What a wallet may pay for when its config does not say (money 2.1.6). */
export const defaultPriceTypes = (type: Wallet['wallet_type']): AllowedPriceType[] =>
  type === 'PRE_PAID' ? ['USAGE'] : ['ALL'];

/** An empty list, a list with `ALL`, and both kinds together all become `ALL` (money 2.1.6). */
export function canonicalPriceTypes(types: readonly AllowedPriceType[] | null): AllowedPriceType[] {
  const all = types === null || types.length === 0 || types.includes('ALL');
  if (all || (types.includes('USAGE') && types.includes('FIXED'))) return ['ALL'];
  return [types[0]!];
}
