/** A status with its article, as the start of a sentence: `A draft`, `An incomplete`. */
export const withArticle = (status: string): string =>
  `${/^[aeio]/i.test(status) ? 'An' : 'A'} ${status}`;
