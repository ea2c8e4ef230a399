import * as invoicing from '../../../../schemas/settings/invoicing.ts';
import { CheckoutConfig } from '../../../../schemas/settings/checkout.ts';
import { CUSTOMER_EMAIL_TYPES, EmailConfig } from '../../../../schemas/settings/email.ts';
import { formatWord } from '../../../ui/text.ts';
import { formOf } from './fields.ts';

/** Settings of invoices and of what customers get with them. */
export const INVOICING = {
  invoice_config: formOf(
    'Invoices: numbers and days',
    'How invoices are numbered, when they are finalized and when they are due.',
    invoicing.InvoiceConfig,
    {
      prefix: {
        kind: 'text',
        label: 'Prefix',
        isRequired: true,
        hint: 'The first part of a number: INV in INV-202611-00001.',
      },
      format: {
        kind: 'choice',
        label: 'Date in the number',
        choices: [
          ['YYYYMM', 'Year and month: 202611'],
          ['YYYYMMDD', 'Year, month and day: 20261123'],
          ['YYMMDD', 'Short year, month and day: 261123'],
          ['YYYY', 'Year: 2026'],
          ['YY', 'Short year: 26'],
        ],
      },
      separator: { kind: 'text', label: 'Separator', hint: 'Between the parts; empty for none.' },
      start_sequence: {
        kind: 'whole',
        label: 'First number',
        isRequired: true,
        hint: 'A later change never gives a used number again.',
      },
      suffix_length: {
        kind: 'whole',
        label: 'Digits of the number',
        isRequired: true,
        hint: '1 to 10; with 5 the first number is 00001.',
      },
      timezone: {
        kind: 'text',
        label: 'Time zone',
        isRequired: true,
        hint: 'The zone of the date in the number, for example Europe/Berlin.',
      },
      due_date_days: {
        kind: 'whole',
        label: 'Due after (days)',
        hint: 'Empty: the default, 1 day.',
      },
      finalization_delay_seconds: {
        kind: 'duration',
        label: 'Grace period for late usage',
        hint: 'From the end of the period until the invoice is finalized; at most 30 days. Empty: the default, 2 hours.',
      },
      auto_complete_purchased_credit_transaction: {
        kind: 'switch',
        label: 'Add purchased credits before payment',
        hint: 'Otherwise the wallet gets them when their invoice is paid.',
      },
    },
  ),
  invoice_pdf_config: formOf(
    'Invoice document',
    'What the PDF shows about you. The portal and the payment page show the logo and the color too.',
    invoicing.InvoicePdfConfig,
    {
      template_name: { kind: 'kept' },
      logo: { kind: 'image', label: 'Logo', hint: 'PNG or JPEG, at most 256 KB.' },
      colors: {
        kind: 'group',
        label: 'Colors',
        unsetWithout: 'accent',
        fields: {
          accent: { kind: 'text', label: 'Accent', isUnset: true, hint: 'For example #1d4ed8.' },
        },
      },
      address: {
        kind: 'text',
        label: 'Address',
        rows: 4,
        isUnset: true,
        hint: 'The lines below your name.',
      },
      tax_ids: { kind: 'lines', of: 'text', label: 'Tax numbers', hint: 'One on each line.' },
      group_by: {
        kind: 'lines',
        of: 'text',
        label: 'Group line items by',
        hint: 'Fields of line items, or keys of their metadata, one on each line. Their values become headings.',
      },
      notes: { kind: 'text', label: 'Notes', rows: 4, isUnset: true, hint: 'Below the total.' },
    },
  ),
  draft_invoice_recompute_config: formOf(
    'Daily drafts',
    'A draft that is computed again every day shows the usage up to that day.',
    invoicing.DraftInvoiceRecomputeConfig,
    { enabled: { kind: 'switch', label: 'Compute drafts again every day' } },
  ),
  subscription_config: formOf(
    'Subscriptions',
    'What happens to a subscription whose first invoice is never paid.',
    invoicing.SubscriptionConfig,
    {
      auto_cancellation_enabled: { kind: 'switch', label: 'Cancel unpaid subscriptions' },
      grace_period_days: {
        kind: 'whole',
        label: 'Days after the due date',
        isRequired: true,
      },
    },
  ),
  email_config: formOf(
    'E-mails to customers',
    'E-mails are sent only if the operator of this installation has set up a mail server.',
    EmailConfig,
    {
      enabled: { kind: 'switch', label: 'Send e-mails to customers' },
      from: { kind: 'text', label: 'Sender', hint: 'A name; empty: the name of your company.' },
      reply_to: {
        kind: 'text',
        label: 'Reply to',
        hint: 'An address; empty: the address of the sender.',
      },
      types: {
        kind: 'choices',
        label: 'E-mails',
        choices: CUSTOMER_EMAIL_TYPES.map((word) => [word, formatWord(word)]),
      },
    },
  ),
  checkout_config: formOf(
    'Payment pages',
    'Where a customer may return to after a payment.',
    CheckoutConfig,
    {
      return_origins: {
        kind: 'lines',
        of: 'text',
        label: 'Allowed return URLs',
        hint: 'One on each line, for example https://app.example.com. If none is listed, payments in the portal return to the portal only, and your API keys may name any https address.',
      },
    },
  ),
};
