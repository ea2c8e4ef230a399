import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunningMark } from '../../main/running-mark.ts';

describe('whether the machine went down under the engines', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'meterline-mark-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));
  const BOOT = 1_800_000_000_000;

  test('a first start: no', () => expect(new RunningMark(directory).begin(BOOT)).toBe(false));

  test('killed and started again on the same boot: no', () => {
    new RunningMark(directory).begin(BOOT);
    expect(new RunningMark(directory).begin(BOOT + 900)).toBe(false);
  });

  test('started again after another boot: yes, once', () => {
    new RunningMark(directory).begin(BOOT);
    expect(new RunningMark(directory).begin(BOOT + 3_600_000)).toBe(true);
    expect(new RunningMark(directory).begin(BOOT + 3_600_500)).toBe(false);
  });

  test('stopped in order before the boot: no', () => {
    const mark = new RunningMark(directory);
    mark.begin(BOOT);
    mark.end();
    expect(new RunningMark(directory).begin(BOOT + 3_600_000)).toBe(false);
  });
});
