import { decimal } from '../../../domain/money.ts';
import { dayForReaders, moneyForReaders } from '../../../domain/reader-text.ts';
import type { Message } from '../../../platform/mail/mailer.ts';
import type { Db } from '../../../postgres/client.ts';
import {
  findCustomerEmailSource,
  type CustomerEmailSource,
} from '../../../postgres/tables/customer-emails.ts';
import type { QueuedEmail } from '../../../postgres/tables/email-queue.ts';
import { readSetting } from '../../../postgres/tables/settings.ts';
import { CUSTOMER_EMAIL_TYPES, type CustomerEmailType } from '../../../schemas/settings/email.ts';

export const isCustomerEmail = (kind: string): kind is CustomerEmailType =>
  (CUSTOMER_EMAIL_TYPES as readonly string[]).includes(kind);

/**
 * The message of a queued e-mail to a customer, as text and as HTML, from the notification that caused it (api
 * 49). Null if there is nothing to send: the tenant has switched it off since, or the customer is gone or has
 * another address.
 */
export async function composeCustomerEmail(db: Db, email: QueuedEmail): Promise<Message | null> {
  const { tenant_id = '', environment_id = '', event_id = '', customer_id = '' } = email.payload;
  if (!isCustomerEmail(email.kind)) return null;
  const config = await readSetting(db, { tenant_id, environment_id }, 'email_config');
  if (!config.enabled || !config.types.includes(email.kind)) return null;
  const source = await findCustomerEmailSource(db, { event_id, customer_id });
  if (source === null || source.customer_email !== email.recipient) return null;
  const sender = oneLine(config.from || source.tenant_name);
  const { subject, facts } = WORDS[email.kind](source, sender);
  const greeting = `Hello ${oneLine(source.customer_name ?? '') || 'there'},`;
  const lines = facts.filter((fact) => fact !== null);
  return {
    id: email.id,
    to: email.recipient,
    subject,
    from_name: sender,
    ...(config.reply_to === '' ? {} : { reply_to: config.reply_to }),
    text: `${greeting}\n\n${lines.join('\n')}\n\n${sender}\n`,
    html: `<!doctype html><html><body><p>${escaped(greeting)}</p>${lines
      .map((line) => `<p>${escaped(line)}</p>`)
      .join('')}<p>${escaped(sender)}</p></body></html>\n`,
  };
}

/** The subject and the lines of each kind; null lines are left out. */
const WORDS: Readonly<
  Record<
    CustomerEmailType,
    (
      source: CustomerEmailSource,
      sender: string,
    ) => { readonly subject: string; readonly facts: readonly (string | null)[] }
  >
> = {
  invoice_issued({ payload: { invoice }, customer_timezone: zone }, sender) {
    const number = oneLine(invoice.invoice_number ?? invoice.id);
    const isOpen = decimal(invoice.amount_remaining).gt(0);
    return {
      subject: `Invoice ${number} from ${sender}`,
      facts: [
        `Invoice ${number} has been issued.`,
        `Total: ${amountText(invoice.total, invoice.currency)}`,
        isOpen ? `To pay: ${amountText(invoice.amount_remaining, invoice.currency)}` : null,
        isOpen && invoice.due_date !== null ? `Due: ${dayText(invoice.due_date, zone)}` : null,
      ],
    };
  },
  receipt({ payload: { payment }, invoice_number, customer_timezone: zone }, sender) {
    return {
      subject: `Receipt for your payment to ${sender}`,
      facts: [
        'Your payment has been received. Thank you.',
        `Amount: ${amountText(payment.amount, payment.currency)}`,
        invoice_number === null ? null : `Invoice: ${oneLine(invoice_number)}`,
        payment.succeeded_at === null ? null : `Date: ${dayText(payment.succeeded_at, zone)}`,
        `Payment: ${oneLine(payment.id)}`,
      ],
    };
  },
  payment_failed({ payload: { payment }, invoice_number }, sender) {
    return {
      subject: `Your payment to ${sender} failed`,
      facts: [
        'Your payment could not be collected. Please check your payment method.',
        `Amount: ${amountText(payment.amount, payment.currency)}`,
        invoice_number === null ? null : `Invoice: ${oneLine(invoice_number)}`,
      ],
    };
  },
  wallet_low({ payload: { wallet, alert } }, sender) {
    return {
      subject: `Your balance with ${sender} is low`,
      facts: [
        `The balance of your wallet ${oneLine(wallet.name ?? '')} is low.`,
        `Balance: ${amountText(alert.current_balance, wallet.currency)}`,
      ],
    };
  },
};

const amountText = (amount: string, currency: string): string =>
  moneyForReaders(amount, oneLine(currency));

/** The day that it is for the customer, with the name of the zone. */
const dayText = (at: string, zone: string): string => `${dayForReaders(at, zone)} (${zone})`;

/** Names reach headers: line breaks and other control characters become spaces, and long names are cut. */
function oneLine(text: string): string {
  const characters = [...text].map((character) =>
    character < ' ' || character === '\u007F' || '\u0085\u2028\u2029'.includes(character)
      ? ' '
      : character,
  );
  return characters.join('').trim().slice(0, 100);
}

const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
