interface Question<Answer> {
  readonly answer: Promise<Answer>;
  /** The question that follows it; null while nobody waits for one. */
  next: Promise<Answer> | null;
}

/**
 * Questions that many callers ask at once. Those who ask while one is on its way share the next one, which is sent
 * when that one is answered. Nobody gets the answer to a question that was sent before they asked. A failure is that
 * of everybody who shares the question, and of nobody else.
 */
export class SharedQuestions<Answer> {
  readonly #sent = new Map<string, Question<Answer>>();

  /** `key` names the question; `send` of one of the callers sends it. */
  ask(key: string, send: () => Promise<Answer>): Promise<Answer> {
    const sent = this.#sent.get(key);
    if (sent === undefined) return this.#send(key, send);
    const sendNext = (): Promise<Answer> => this.#send(key, send);
    return (sent.next ??= sent.answer.then(sendNext, sendNext));
  }

  #send(key: string, send: () => Promise<Answer>): Promise<Answer> {
    const question: Question<Answer> = { answer: send(), next: null };
    this.#sent.set(key, question);
    const forget = (): void => {
      if (question.next === null) this.#sent.delete(key);
    };
    question.answer.then(forget, forget);
    return question.answer;
  }
}
