/** Rows of text in aligned columns; numbers (columns named in `right`) are right-aligned. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  right: readonly number[] = [],
): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        right.includes(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
      )
      .join('  ')
      .trimEnd();
  return [line(head), line(widths.map((width) => '─'.repeat(width))), ...rows.map(line)].join('\n');
}

/** 18059974 → "18,059,974"; decimals are kept. */
export function grouped(number: string): string {
  const [whole, fraction] = number.split('.');
  const digits = BigInt(whole!).toLocaleString('en-US');
  return fraction === undefined ? digits : `${digits}.${fraction}`;
}

/** 1234.5 → "1,234.50", with two decimals. */
export function money(amount: string): string {
  const [whole, fraction = ''] = amount.split('.');
  return grouped(`${whole}.${fraction.padEnd(2, '0')}`);
}

/** A progress bar: redraws in place on a terminal, prints every tenth elsewhere. */
export function progressBar(title: string, total: number): (done: number) => void {
  let shown = -1;
  return (done) => {
    const percent = Math.floor((done * 100) / total);
    const step = process.stderr.isTTY ? percent : Math.floor(percent / 10) * 10;
    if (step === shown) return;
    shown = step;
    const filled = Math.round(step / 4);
    const bar = '█'.repeat(filled) + '·'.repeat(25 - filled);
    const text = `${title} ${bar} ${grouped(String(done))} of ${grouped(String(total))}`;
    process.stderr.write(
      process.stderr.isTTY ? `\r${text}${done >= total ? '\n' : ''}` : `${text}\n`,
    );
  };
}
