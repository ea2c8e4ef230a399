import type { ApiRecord } from '../client/api.ts';
import type { Tone } from '../ui/badge.tsx';
import { jobInWords } from './record-words.ts';

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

/** What a check is called or says, with its jobs in plain words: `job erase-events` as `the erasure of events`. */
export const healthInWords = (text: string): string =>
  text.replaceAll(/\b(?:the )?job ([a-z]+(?:-[a-z]+)+)/g, (_found, job: string) => jobInWords(job));
