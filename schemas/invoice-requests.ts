import { z } from 'zod';
import { notOffered } from './not-offered.ts';
export type VoidInvoiceBody = z.output<typeof VoidInvoiceBody>;
