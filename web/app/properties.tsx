import styles from './properties.module.css';

/** Properties of an event as names and values: `model small  region us-east`. */
export function Properties({ of }: { readonly of: Readonly<Record<string, unknown>> | null }) {
  const entries = Object.entries(of ?? {});
  if (entries.length === 0) return <>–</>;
  return (
    <code>
      {entries.map(([name, value]) => (
        <span key={name} className={styles.property}>
          <span className={styles.name}>{name}</span>
          {'\u00a0'}
          <bdi>{typeof value === 'string' ? value : JSON.stringify(value)}</bdi>{' '}
        </span>
      ))}
    </code>
  );
}
