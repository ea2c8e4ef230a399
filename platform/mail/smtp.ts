import assert from 'node:assert/strict';
import { createTransport } from 'nodemailer';
import { isLoopback } from '../loopback.ts';
import type { Mailer } from './mailer.ts';

const CONNECT_MS = 10_000;
const SILENCE_MS = 20_000;

/**
 * Sends through the server of `url` (`smtps://user:password@host:465`, `smtp://host:587`). A server without
 * TLS is refused beyond loopback, because messages carry links that open an account; `?ignoreTLS=true`
 * overrides this. One connection for each message: they are few.
 */
export function smtpMailer(options: { readonly url: string; readonly from: string }): Mailer {
  const url = new URL(options.url);
  const transport = createTransport({
    url: options.url,
    requireTLS: !isLoopback(url.hostname) && url.searchParams.get('ignoreTLS') !== 'true',
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send({ id, to, subject, text, html, from_name, reply_to }) {
      // A line break in a header would start another header.
      for (const header of [options.from, to, subject, id, from_name ?? '', reply_to ?? ''])
        assert(!/[\r\n\0]/.test(header));
      const messageId = `<${id}@${options.from.slice(options.from.lastIndexOf('@') + 1).replace(/>$/, '')}>`;
      await transport.sendMail({
        from: from_name === undefined ? options.from : { name: from_name, address: options.from },
        to,
        subject,
        text,
        messageId,
        ...(html === undefined ? {} : { html }),
        ...(reply_to === undefined ? {} : { replyTo: reply_to }),
      });
    },
    close: async () => transport.close(),
  };
}
