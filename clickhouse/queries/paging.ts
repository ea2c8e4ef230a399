/**
 * Settings of a statement that reads in the order of a table and stops after a page. With the engine's
 * read-ahead each page would read a large part of what follows it (4 of 15 million marks, 7 of 25 million
 * slots). The cost of all pages would then grow with the square of the table.
 */
export const STOPS_EARLY = 'read_in_order_use_buffering = 0, max_block_size = 8192';
