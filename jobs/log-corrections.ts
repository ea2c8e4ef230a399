import {
  logCorrections,
  type LogCorrectionsDeps,
} from '../api/usage/corrections/log-corrections.ts';
import type { Job } from './job.ts';

/** Appends corrections whose process ended between their commit and the append to the log. */
export const logMissedCorrections: Job<LogCorrectionsDeps> = {
  name: 'log-corrections',
  cron: '* * * * *',
  run: async (deps, { signal }) => ({ logged: await logCorrections(deps, signal) }),
};
