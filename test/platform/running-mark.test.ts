import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunningMark } from '../../main/running-mark.ts';

describe('whether the machine crashed while the engines ran', () => {
  let directory: string;
  let mark: RunningMark;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'meterline-mark-'));
    mark = new RunningMark(directory);
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  test('a first start: no', () => expect(mark.isOfAnotherBoot('boot-1')).toBe(false));

  test('killed and started again on the same boot: no', () => {
    mark.set('boot-1');
    expect(new RunningMark(directory).isOfAnotherBoot('boot-1')).toBe(false);
  });

  test('started again after another boot, however soon: yes, until the mark is set again', () => {
    mark.set('boot-1');
    expect(mark.isOfAnotherBoot('boot-2')).toBe(true);
    // The replay was not committed: the next start asks for it again.
    expect(new RunningMark(directory).isOfAnotherBoot('boot-2')).toBe(true);
    mark.set('boot-2');
    expect(mark.isOfAnotherBoot('boot-2')).toBe(false);
  });

  test('stopped in order before the boot: no', () => {
    mark.set('boot-1');
    mark.end();
    expect(mark.isOfAnotherBoot('boot-2')).toBe(false);
  });

  test.each(['', '1800000000000'])('a mark that is no boot id (%j): yes', (text) => {
    writeFileSync(join(directory, 'running'), text);
    expect(mark.isOfAnotherBoot('boot-1')).toBe(true);
  });

  test('a system without a boot id: every earlier mark requires a replay', () => {
    mark.set('');
    expect(mark.isOfAnotherBoot('')).toBe(true);
  });
});
