/** Whether an amount of the API is nothing. Without the decimals, which a list needs for nothing else. */
export const isZero = (amount: string): boolean => /^-?0+(\.0+)?$/.test(amount);
