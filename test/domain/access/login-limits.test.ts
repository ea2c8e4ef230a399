import { accountWaitMs } from '../../../domain/access/login-limits.ts';

describe('how long an account that many fail at lets unknown networks wait', () => {
  test.each`
    failures | sinceLastMs | waitMs
    ${0}     | ${0}        | ${0}
    ${29}    | ${0}        | ${0}
    ${30}    | ${0}        | ${1_000}
    ${30}    | ${999}      | ${1}
    ${30}    | ${1_000}    | ${0}
    ${34}    | ${0}        | ${1_000}
    ${35}    | ${0}        | ${2_000}
    ${40}    | ${0}        | ${4_000}
    ${55}    | ${0}        | ${32_000}
    ${60}    | ${0}        | ${60_000}
    ${5000}  | ${0}        | ${60_000}
    ${5000}  | ${60_000}   | ${0}
  `('$failures failures, the last $sinceLastMs ms ago: $waitMs ms', (row) => {
    expect(accountWaitMs(row.failures, row.sinceLastMs)).toBe(row.waitMs);
  });

  test('an hour of guessing from any number of networks is some hundred guesses', () => {
    let [now, guesses] = [0, 0];
    for (; now < 3_600_000; guesses += 1) now += accountWaitMs(guesses, 0);
    expect(guesses).toBe(115);
  });
});
