import type { Contract, Fee, LineEdit, Pause } from './contract.ts';
import type { Time } from './naive-calendar.ts';
import { livedPeriods, type Lived } from './naive-life.ts';

/** The running period as it is known at an instant: a pause that lasts has not made it longer yet. */
export function runningAt(contract: Contract, at: number): Lived | undefined {
  const lasting = contract.pauses.find(({ start, end }) => start <= at && at < end);
  const pauses = contract.pauses.filter(({ end }) => end <= at);
  const instant = lasting === undefined ? at : lasting.start - 1;
  return livedPeriods({ ...contract, pauses }).find(
    ({ start, end }) => start <= instant && instant < end,
  );
}

export function lineOf(edit: LineEdit): string {
  switch (edit.kind) {
    case 'fee':
      return edit.fee.name;
    case 'service':
      return edit.service.name;
    default:
      return edit.line;
  }
}

/** Whether the line of an edit is a fee in advance. */
export function isAdvance({ fees, edits }: Contract, edit: LineEdit): boolean {
  if (edit.kind === 'fee') return edit.fee.advance;
  const added = edits.flatMap((one) => (one.kind === 'fee' ? [one.fee] : []));
  const fee = [...fees, ...added].find(({ name }) => name === lineOf(edit));
  return fee?.advance ?? false;
}

/** The instant from which an edit that is settled at once gives an advance back: of time in a pause nothing is used. */
export function returnedFrom({ cycle, pauses }: Contract, { kind, asked, at }: LineEdit): number {
  const pause = pauses.find(({ start, end }) => start <= asked && asked < end);
  const isLonger = pause !== undefined && cycle === 'anniversary' && kind === 'end';
  return isLonger ? Math.min(at, pause.start) : at;
}

/** Whether an edit charges and credits at once: never in a trial. */
export function isSettledAtOnce(contract: Contract, { asked, at, prorated }: LineEdit): boolean {
  const running = runningAt(contract, asked);
  return running !== undefined && (prorated ?? contract.prorated) && at < running.end;
}

/**
 * Whether a resumption settles a fee again: it begins or ends after the start of the pause, in the longer period, and
 * what was billed of it before knows that (billing 12.4).
 */
export function isResettled(
  contract: Contract,
  fee: Fee,
  pause: Pause,
  before: Lived,
  after: Time,
): boolean {
  const bounds = [fee.during?.start ?? -Infinity, fee.during?.end ?? Infinity].filter(
    (bound) => pause.start < bound && bound < after.end,
  );
  const knows = (bound: number) => {
    const edit = contract.edits.find((one) => one.at === bound && lineOf(one) === fee.name)!;
    if (bound >= before.end || edit.asked < before.start) return true;
    if (edit.at >= runningAt(contract, edit.asked)!.end) return true;
    return isSettledAtOnce(contract, edit) && edit.asked < pause.start;
  };
  return bounds.length > 0 && bounds.every(knows);
}
