import { SharedQuestions } from '../../platform/shared-questions.ts';

/** Questions that the test answers. */
function asker() {
  const questions = new SharedQuestions<string>();
  const sent: { key: string; resolve(answer: string): void; reject(error: Error): void }[] = [];
  const ask = (key: string): Promise<string> =>
    questions.ask(key, () => new Promise((resolve, reject) => sent.push({ key, resolve, reject })));
  return { ask, sent };
}

describe('questions that many callers ask at once', () => {
  test('those who ask while a question is on its way share the next one', async () => {
    const { ask, sent } = asker();
    const first = ask('a');
    const later = [ask('a'), ask('a'), ask('a')];
    expect(sent).toHaveLength(1);
    sent[0]!.resolve('before');
    expect(await first).toBe('before');
    expect(sent).toHaveLength(2);
    const latest = ask('a');
    sent[1]!.resolve('after');
    expect(await Promise.all(later)).toEqual(['after', 'after', 'after']);
    expect(sent).toHaveLength(3);
    sent[2]!.resolve('last');
    expect(await latest).toBe('last');
  });

  test('a question that is answered is sent again for the next caller', async () => {
    const { ask, sent } = asker();
    const first = ask('a');
    sent[0]!.resolve('one');
    await first;
    const second = ask('a');
    sent[1]!.resolve('two');
    expect(await second).toBe('two');
  });

  test('different questions do not wait for each other', async () => {
    const { ask, sent } = asker();
    void ask('a');
    const other = ask('b');
    expect(sent.map(({ key }) => key)).toEqual(['a', 'b']);
    sent[1]!.resolve('of b');
    expect(await other).toBe('of b');
  });

  test('a failure is that of the callers who share the question', async () => {
    const { ask, sent } = asker();
    const first = ask('a');
    const later = [ask('a'), ask('a')];
    sent[0]!.reject(new Error('lost'));
    await expect(first).rejects.toThrow('lost');
    sent[1]!.resolve('after');
    expect(await Promise.all(later)).toEqual(['after', 'after']);
  });
});
