/** One e-mail of plain text to one address. */
export interface Message {
  /** Stands in the Message-ID: a message that is sent again after a crash is known as the same. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface Mailer {
  /** Resolves once the mail server has taken the message over; rejects otherwise. */
  send(message: Message): Promise<void>;
  close(): Promise<void>;
}
