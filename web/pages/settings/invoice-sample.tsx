import { useSignedIn } from '../../app/person.tsx';
import { InvoicePdfConfig } from '../../../schemas/settings/invoicing.ts';
import { Money, Quantity } from '../../ui/money.tsx';
import styles from './invoice-sample.module.css';

const LINES = [
  { name: 'Team plan', quantity: '1', amount: '199.00' },
  { name: 'Requests', quantity: '120000', amount: '24.00' },
] as const;
const TOTAL = '223.00';
const CURRENCY = 'usd';

/** How an invoice will look with the values of the form, saved or not. A value that is not valid is left out. */
export function InvoiceSample({ value }: { readonly value: Readonly<Record<string, unknown>> }) {
  const { tenant } = useSignedIn().person;
  const { logo, colors, address, tax_ids, notes } = readable(value);
  return (
    <figure className={styles.sample} aria-label="Sample invoice">
      <figcaption>Sample invoice</figcaption>
      <div className={styles.paper}>
        <div className={styles.head} {...(colors ? { style: { borderColor: colors.accent } } : {})}>
          {logo === undefined ? null : <img src={logo} alt="Logo" />}
          <p className={styles.seller}>
            <bdi>{tenant.name}</bdi>
          </p>
          {linesOf(address).map((line, index) => (
            <bdi key={index}>{line}</bdi>
          ))}
          {(tax_ids ?? []).map((id) => (
            <bdi key={id}>{id}</bdi>
          ))}
        </div>
        <table className={styles.rows}>
          <thead>
            <tr>
              <th scope="col">Description</th>
              <th scope="col">Quantity</th>
              <th scope="col">Amount</th>
            </tr>
          </thead>
          <tbody>
            {LINES.map(({ name, quantity, amount }) => (
              <tr key={name}>
                <td>{name}</td>
                <td>
                  <Quantity value={quantity} />
                </td>
                <td>
                  <Money amount={amount} currency={CURRENCY} />
                </td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row" colSpan={2}>
                Total
              </th>
              <td>
                <Money amount={TOTAL} currency={CURRENCY} />
              </td>
            </tr>
          </tfoot>
        </table>
        {linesOf(notes).length === 0 ? null : (
          <p className={styles.notes}>
            {linesOf(notes).map((line, index) => (
              <bdi key={index}>{line}</bdi>
            ))}
          </p>
        )}
      </div>
    </figure>
  );
}

/** Each field by itself: while one is being typed, the others stay in sight. */
function readable(value: Readonly<Record<string, unknown>>) {
  const { shape } = InvoicePdfConfig;
  return {
    logo: shape.logo.safeParse(value['logo'] ?? undefined).data,
    colors: shape.colors.safeParse(value['colors'] ?? undefined).data,
    address: shape.address.safeParse(value['address'] ?? undefined).data,
    tax_ids: shape.tax_ids.safeParse(value['tax_ids'] ?? undefined).data,
    notes: shape.notes.safeParse(value['notes'] ?? undefined).data,
  };
}

const linesOf = (text: string | undefined): string[] =>
  text === undefined || text === '' ? [] : text.split('\n');
