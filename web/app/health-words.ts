import type { ApiRecord } from '../client/api.ts';
import type { Tone } from '../ui/badge.tsx';

type State = ApiRecord<'DoctorReport'>['state'];

/** The states of the checks of the doctor, on every page that shows them. */
export const HEALTH_TONES: Readonly<Record<State, Tone>> = {
  ok: 'positive',
  warn: 'warning',
  bad: 'negative',
};
export const HEALTH_WORDS: Readonly<Record<State, string>> = {
  ok: 'OK',
  warn: 'Needs attention',
  bad: 'Failed',
};
