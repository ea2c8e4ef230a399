/** Exact rational numbers on BigInt, for oracles: nothing here knows decimal.js. */
export interface Exact {
  readonly n: bigint;
  /** Above zero. */
  readonly d: bigint;
}

export function exact(text: string | number | bigint): Exact {
  const [, sign, whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(text))!;
  const n = BigInt(`${whole}${fraction}`);
  return reduce({ n: sign === '-' ? -n : n, d: 10n ** BigInt(fraction.length) });
}

export const NOTHING: Exact = { n: 0n, d: 1n };

export const add = (a: Exact, b: Exact): Exact =>
  reduce({ n: a.n * b.d + b.n * a.d, d: a.d * b.d });
export const minus = (a: Exact, b: Exact): Exact => add(a, { n: -b.n, d: b.d });
export const times = (a: Exact, b: Exact): Exact => reduce({ n: a.n * b.n, d: a.d * b.d });
export const over = (a: Exact, b: Exact): Exact =>
  reduce(b.n < 0n ? { n: -a.n * b.d, d: a.d * -b.n } : { n: a.n * b.d, d: a.d * b.n });
export const total = (values: readonly Exact[]): Exact => values.reduce(add, NOTHING);

export function compare(a: Exact, b: Exact): number {
  const difference = a.n * b.d - b.n * a.d;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}
export const least = (a: Exact, b: Exact): Exact => (compare(a, b) <= 0 ? a : b);
export const most = (a: Exact, b: Exact): Exact => (compare(a, b) >= 0 ? a : b);
export const floor = (a: Exact): Exact => ({
  n: a.n >= 0n ? a.n / a.d : -((-a.n + a.d - 1n) / a.d),
  d: 1n,
});
export const ceiling = (a: Exact): Exact => {
  const { n } = floor({ n: -a.n, d: a.d });
  return { n: -n, d: 1n };
};

/** Half away from zero. */
export function rounded(value: Exact, decimals: number): Exact {
  const scale = 10n ** BigInt(decimals);
  const magnitude = value.n < 0n ? -value.n : value.n;
  const units = (2n * magnitude * scale + value.d) / (2n * value.d);
  return reduce({ n: value.n < 0n ? -units : units, d: scale });
}

/** As decimal text, cut after `decimals` where it does not end before. */
export function text(value: Exact, decimals = 60): string {
  const scale = 10n ** BigInt(decimals);
  const magnitude = value.n < 0n ? -value.n : value.n;
  const digits = String((magnitude * scale) / value.d).padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  const plain = fraction === '' ? whole : `${whole}.${fraction}`;
  return value.n < 0n && plain !== '0' ? `-${plain}` : plain;
}

/** Equal but for what 40 significant digits cannot hold. */
export function close(a: Exact, b: Exact): boolean {
  const difference = minus(a, b);
  const bound = over(most(most(a, b), { n: 1n, d: 1n }), { n: 10n ** 30n, d: 1n });
  return compare(most(difference, { n: -difference.n, d: difference.d }), bound) <= 0;
}

function reduce({ n, d }: Exact): Exact {
  let [a, b] = [n < 0n ? -n : n, d];
  while (b !== 0n) [a, b] = [b, a % b];
  return a === 0n ? NOTHING : { n: n / a, d: d / a };
}
