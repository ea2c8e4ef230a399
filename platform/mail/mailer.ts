/** One e-mail to one address. */
export interface Message {
  /** Used in the Message-ID, so that a message that is sent again after a crash is recognized as the same. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same as HTML. */
  readonly html?: string;
  /** Shown in front of the sender's address. */
  readonly from_name?: string;
  readonly reply_to?: string;
}

export interface Mailer {
  /** Resolves once the mail server has accepted the message; rejects otherwise. */
  send(message: Message): Promise<void>;
  close(): Promise<void>;
}
