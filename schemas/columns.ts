/**
 * The columns of a table whose rows are `Row`: the fields of its schema, and the other keys of the row. A key that is
 * missing does not compile. Statements name these columns: `select *` would also read what a later migration adds.
 */
export const columnNames =
  <Row extends object>() =>
  <Fields extends object>(
    fields: Fields,
    others: Readonly<Record<Exclude<keyof Row, keyof Fields>, true>>,
  ): readonly (keyof Row & string)[] =>
    [...Object.keys(fields), ...Object.keys(others)] as (keyof Row & string)[];
