import { localDate } from '../time/local-days.ts';

/** How the invoices of an environment are numbered (setting `invoice_config`). */
export interface NumberFormat {
  readonly prefix: string;
  readonly separator: string;
  readonly format: 'YYYYMM' | 'YYYYMMDD' | 'YYMMDD' | 'YY' | 'YYYY';
  /** Digits of the sequence at least; a longer sequence grows. */
  readonly suffix_length: number;
  readonly timezone: string;
}

/** The dates that share one sequence: the date of the finalization in the configured zone (billing 17.5). */
export function numberBucket(finalizedAt: string, { format, timezone }: NumberFormat): string {
  const [year, month, day] = localDate(finalizedAt, timezone).split('-') as [
    string,
    string,
    string,
  ];
  switch (format) {
    case 'YYYYMM':
      return `${year}${month}`;
    case 'YYYYMMDD':
      return `${year}${month}${day}`;
    case 'YYMMDD':
      return `${year.slice(2)}${month}${day}`;
    case 'YY':
      return year.slice(2);
    case 'YYYY':
      return year;
    default:
      return format satisfies never;
  }
}

/** `INV-202611-00042`. */
export const numberText = (
  bucket: string,
  sequence: number,
  { prefix, separator, suffix_length }: NumberFormat,
): string => [prefix, bucket, String(sequence).padStart(suffix_length, '0')].join(separator);
