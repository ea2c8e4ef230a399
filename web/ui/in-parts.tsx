import { Fragment } from 'react';

/** A name or a path: `wallet.credit_balance.dropped` may break after a point, a line or a slash, not within a word. */
export function InParts({ text }: { readonly text: string }) {
  return text.split(/(?<=[./_])/).map((part, index) => (
    <Fragment key={index}>
      {part}
      <wbr />
    </Fragment>
  ));
}
