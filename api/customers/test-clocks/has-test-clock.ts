import { SharedQuestions } from '../../../platform/shared-questions.ts';
import type { Db, Pool, Scope } from '../../../postgres/client.ts';
import { originOf } from '../../../postgres/scoped-pool.ts';
import { findAnyTestClock } from './time-repository.ts';

/** The questions of each pool of the process. */
const questionsOf = new WeakMap<Pool, SharedQuestions<boolean>>();

/**
 * Whether the environment has a test clock. Almost every request outside of production asks this first, so
 * requests of one environment that arrive together share the question. A clock that exists when a request
 * arrives is seen. A transaction asks for itself.
 */
export async function hasTestClock(db: Db, scope: Scope): Promise<boolean> {
  const origin = originOf(db as Pool);
  if (origin === null) return await findAnyTestClock(db, scope);
  const questions = questionsOf.get(origin.pool) ?? new SharedQuestions<boolean>();
  questionsOf.set(origin.pool, questions);
  // The scope of the session is what its statements see.
  const key = JSON.stringify([origin.session.scope, scope]);
  return await questions.ask(key, () => findAnyTestClock(db, scope));
}
