/** Money is in cents. */
export const cents = (text: string): number => Math.round(Number(text) * 100);
export const money = (amount: number): string =>
  `${Math.floor(amount / 100)}.${String(amount % 100).padStart(2, '0')}`;
