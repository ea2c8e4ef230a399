/** One e-mail of plain text to one address. */
export interface Message {
  /** Used in the Message-ID, so that a message that is sent again after a crash is recognized as the same. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface Mailer {
  /** Resolves once the mail server has accepted the message; rejects otherwise. */
  send(message: Message): Promise<void>;
  close(): Promise<void>;
}
