import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

export interface CaughtMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** Empty for a message of plain text only. */
  readonly html: string;
}

/** A mail server on loopback that delivers nothing and stores its messages. */
export interface MailCatcher {
  readonly url: string;
  readonly mails: CaughtMail[];
  /** True: every message is refused for now, as a busy server does. */
  isBusy: boolean;
  close(): Promise<void>;
}

export async function startMailCatcher(): Promise<MailCatcher> {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        if (catcher.isBusy) return done(Object.assign(new Error('busy'), { responseCode: 451 }));
        const { mailFrom, rcptTo } = session.envelope;
        catcher.mails.push({
          from: mailFrom === false ? '' : mailFrom!.address,
          to: rcptTo.map(({ address }) => address),
          ...partsOf(Buffer.concat(chunks).toString('utf8')),
        });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  const catcher: MailCatcher = {
    url: `smtp://127.0.0.1:${port}`,
    mails: [],
    isBusy: false,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return catcher;
}

/** Of a message of plain text in one part, or of text and HTML. */
function partsOf(raw: string): Pick<CaughtMail, 'headers' | 'text' | 'html'> {
  const whole = partOf(raw);
  const boundary = /boundary="([^"]+)"/.exec(whole.headers['content-type'] ?? '')?.[1];
  if (boundary === undefined) return { ...whole, html: '' };
  const parts = raw
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => partOf(part.trimStart()));
  const textOf = (type: string) =>
    parts.find(({ headers }) => headers['content-type']?.startsWith(type))?.text ?? '';
  return { headers: whole.headers, text: textOf('text/plain'), html: textOf('text/html') };
}

function partOf(raw: string): Pick<CaughtMail, 'headers' | 'text'> {
  const split = raw.indexOf('\r\n\r\n');
  const lines = raw
    .slice(0, split)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  );
  const body = raw.slice(split + 4);
  const isQuoted = headers['content-transfer-encoding'] === 'quoted-printable';
  const text = isQuoted
    ? Buffer.from(
        body
          .replace(/=\r\n/g, '')
          .replace(/=([0-9A-F]{2})/g, (_all, hex: string) =>
            String.fromCharCode(parseInt(hex, 16)),
          ),
        'latin1',
      ).toString('utf8')
    : body;
  return { headers, text: text.replaceAll('\r\n', '\n') };
}

/** The one-time token that a message brings. */
export function tokenIn({ text }: CaughtMail): string {
  const token = /"token":"([^"]+)"/.exec(text)?.[1];
  if (token === undefined) throw new Error(`no token in: ${text}`);
  return token;
}
