import { drawDocument } from '../platform/pdf/draw-document.ts';
import { readFontFamilies } from '../platform/pdf/font-families.ts';
import type { PrintedDocument } from '../platform/pdf/printed-document.ts';
import { StaticFonts } from '../platform/pdf/static-fonts.ts';
import { benchRow, type BenchRow } from './bench-row.ts';

/**
 * Prints invoices of 100 and 10,000 Latin rows on one core, in this thread. Numbers differ from document to
 * document, as on real invoices. The figure is CPU time: the median of the last rounds, when the code is
 * compiled and the fonts are loaded.
 */
const ROUNDS = 40;
const COUNTED = 15;

export async function run(): Promise<BenchRow[]> {
  const families = readFontFamilies();
  const fonts = new StaticFonts();
  const cpuMs = async (rows: number, round: number): Promise<number> => {
    const begun = process.cpuUsage();
    await drawDocument(invoice(rows, round), families, fonts);
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / 1000;
  };
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) times.push(await cpuMs(100, round));
  const warm = times.slice(-COUNTED).sort((left, right) => left - right);
  const notes = `CPU time in one thread, warm: median of ${COUNTED}; first document ${times[0]!.toFixed(0)} ms; bar: 30 ms`;
  return [
    benchRow('pdf of 100 rows', warm[Math.floor(COUNTED / 2)]!, 'ms', 30, notes),
    benchRow('pdf of 10,000 rows', await cpuMs(10_000, 0), 'ms', null, 'CPU time, once'),
  ];
}

function invoice(rows: number, round: number): PrintedDocument {
  const column = (heading: string, share: number, align: 'left' | 'right') => ({
    heading,
    share,
    align,
  });
  return {
    heading: `Invoice ${round}`,
    stamp: null,
    footer: 'Acme',
    author: 'Acme',
    dated: '2026-11-22T12:00:00.000Z',
    accent: '#1d4ed8',
    logo: null,
    facts: [{ label: 'Issued', value: '22 November 2026' }],
    parties: [
      { heading: 'FROM', lines: ['Acme', '1 Long Street'] },
      { heading: 'TO', lines: ['Customer', '2 Short Street'] },
    ],
    table: {
      columns: [
        column('Description', 0.4, 'left'),
        column('Period', 0.25, 'left'),
        column('Quantity', 0.15, 'right'),
        column('Amount', 0.2, 'right'),
      ],
      groups: [
        {
          heading: 'Pro plan',
          rows: Array.from({ length: rows }, (_, row) => ({
            cells: [
              `Requests of region eu-${row}`,
              '1 Nov 2026 to 30 Nov 2026',
              String(row * 37 + round),
              `$${row * 3 + round}.50`,
            ],
            detail: null,
          })),
        },
      ],
    },
    totals: [{ label: 'Total', value: `$${round}.00`, isStrong: true }],
    notes: [],
    annex: [],
  };
}
