import { extractText, getDocumentProxy, getMeta } from 'unpdf';

export interface ReadPdf {
  readonly pages: number;
  readonly text: string;
  readonly title: string;
}

/** Reads a PDF file with a second library. */
export async function readPdf(bytes: Uint8Array): Promise<ReadPdf> {
  const pdf = await getDocumentProxy(new Uint8Array(bytes));
  const { totalPages, text } = await extractText(pdf, { mergePages: false });
  const { info } = await getMeta(pdf);
  return {
    pages: totalPages,
    text: text.join('\n'),
    title: (info as { readonly Title: string }).Title,
  };
}
