/** A notification for consumers of the log. */
export interface LoggedNotification {
  /** The same whenever the notification is appended again; consumers recognize repetitions by it. */
  readonly id: string;
  /** Notifications with the same value keep their order. */
  readonly entity: string;
  /** JSON, the same as the body of the webhook. */
  readonly value: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A log of notifications for other systems, which the product itself does not read. */
export interface NotificationLog {
  /**
   * Resolves once all records would survive the loss of a replica. Rejects otherwise; then any of them may be
   * stored, and the caller appends all of them again.
   */
  append(records: readonly LoggedNotification[]): Promise<void>;
  close(): Promise<void>;
}
