import type { ExplanationStepOf } from '../../schemas/explanation.ts';
import { decimalText, Decimal, sum, ZERO } from '../money.ts';
import type { Instant, Period } from '../time/instant.ts';

/** A window that usage opened, with all usage in it so far. */
export interface QuotaWindow extends Period {
  /** The entitlement that names the window: of additive quotas the one with the lowest id. */
  readonly entitlement_id: string;
  readonly quota: Decimal;
  /** Usage of all lines of the meter. */
  readonly used: Decimal;
  /** When usage first reached the quota; null while it has not. */
  readonly exhausted_at: Instant | null;
}

/** What the quotas of a meter leave to bill of one line. */
export interface QuotaShare {
  /** Windows that overlap the service, in order of time. */
  readonly windows: readonly QuotaWindow[];
  /** Billed usage by the window of the price that it belongs to; null without windows. */
  readonly billed: ReadonlyMap<string | null, Decimal>;
  /** Usage that no window covers, all of it billed. */
  readonly outside: Decimal;
}

/** The explanation step of the quotas: at most `maxEntries` windows, the rest as totals. */
export function explainQuota(
  share: QuotaShare,
  measured: Decimal,
  billable: Decimal,
  maxEntries: number,
): ExplanationStepOf<'quota'> {
  const over = ({ quota, used }: QuotaWindow) => Decimal.max(used.minus(quota), ZERO);
  const rest = share.windows.slice(maxEntries);
  return {
    step: 'quota',
    rule: 'money 7.10',
    windows: share.windows.slice(0, maxEntries).map((window) => ({
      entitlement_id: window.entitlement_id,
      start: window.start,
      end: window.end,
      quota: decimalText(window.quota),
      used: decimalText(window.used),
      over: decimalText(over(window)),
      exhausted_at: window.exhausted_at,
    })),
    omitted:
      rest.length === 0 ? null : { count: rest.length, over: decimalText(sum(rest.map(over))) },
    outside: decimalText(share.outside),
    free: decimalText(Decimal.max(measured.minus(billable), ZERO)),
    billable: decimalText(billable),
  };
}
