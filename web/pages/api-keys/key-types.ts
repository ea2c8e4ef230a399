/** Types of keys, with their names. */
export const KEY_TYPES = [
  ['private_key', 'Private'],
  ['publishable_key', 'Publishable'],
] as const;
