import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { PersonName } from '../person-name.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Money } from '../../ui/money.tsx';
import { EmptyState, Loaded } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';
import { jobInWords } from '../record-words.ts';
import { actionInWords, fieldInWords, notificationInWords, partInWords } from './timeline-words.ts';
import styles from './timeline.module.css';

type Entry = ApiRecord<'TimelineEntry'>;

const STEP = 25;
const SHOWN_MAX = 500;

/** What happened to a record, newest first: changes, notifications, invoices. */
export function Timeline({
  of,
  zone = 'UTC',
  isOnTestClock,
}: {
  readonly of:
    | { readonly customer_id: string }
    | { readonly subscription_id: string }
    | { readonly invoice_id: string };
  readonly zone?: string;
  /** Whether the customer follows a test clock: invoices have its time, all other entries the real one. */
  readonly isOnTestClock: boolean;
}) {
  const [limit, setLimit] = useState(STEP);
  const query = useQuery({
    queryKey: ['timeline', of, limit],
    queryFn: ({ signal }) =>
      answerOf(api.POST('/timeline/search', { body: { ...of, limit }, signal })),
    placeholderData: keepPreviousData,
  });
  return (
    <Loaded query={query} what="the timeline">
      {({ items, pagination }) =>
        items.length === 0 ? (
          <EmptyState title="Nothing happened yet">
            Changes, notifications and invoices are listed here.
          </EmptyState>
        ) : (
          <>
            {isOnTestClock ? (
              <p className={styles.clock}>
                Invoices have the time of the customer’s test clock; changes and notifications have
                the real time.
              </p>
            ) : null}
            <ol className={styles.timeline}>
              {items.map((entry) => (
                <li key={`${entry.kind}-${entry.id}`}>
                  <span className={styles.when}>
                    <Time at={entry.created_at} zone={zone} />
                    {isOnTestClock && entry.kind === 'invoice' ? <div>test clock</div> : null}
                  </span>
                  <div className={styles.what}>
                    <What entry={entry} />
                  </div>
                </li>
              ))}
            </ol>
            {pagination.total <= items.length || limit >= SHOWN_MAX ? null : (
              <Button small onPress={() => setLimit(Math.min(limit * 2, SHOWN_MAX))}>
                Show older
              </Button>
            )}
          </>
        )
      }
    </Loaded>
  );
}

function What({ entry }: { readonly entry: Entry }): ReactNode {
  if (entry.kind === 'invoice')
    return (
      <>
        <Badge tone={entry.action === 'voided' ? 'negative' : 'positive'}>
          {formatWord(entry.action)}
        </Badge>{' '}
        <Link to={`/invoices/${entry.entity_id}`}>
          Invoice {entry.invoice?.invoice_number ?? entry.entity_id}
        </Link>
        {entry.invoice === null ? null : (
          <>
            {', '}
            <Money amount={entry.invoice.total} currency={entry.invoice.currency} />
          </>
        )}
      </>
    );
  if (entry.kind === 'notification')
    return (
      <>
        <Badge tone="info">Notification</Badge>{' '}
        <span title={entry.action}>{notificationInWords(entry.action)}</span>
        <span className={styles.by}>
          {entry.deliveries.length === 0
            ? 'no endpoint'
            : entry.deliveries
                .map(
                  ({ delivery_status, attempts }) =>
                    `${formatWord(delivery_status).toLowerCase()}, ${attempts === 1 ? 'one attempt' : `${attempts} attempts`}`,
                )
                .join('; ')}
        </span>
      </>
    );
  return (
    <>
      <Record of={entry} /> {actionInWords(entry.entity_type, entry.action)}
      <span className={styles.by}>
        by <Actor of={entry} />
      </span>
      <Changes entry={entry} />
    </>
  );
}

function Actor({ of: { actor_kind, user_id, key_id, job } }: { readonly of: Entry }) {
  if (job === null && user_id !== null) return <PersonName id={user_id} />;
  return <>{job === null ? (key_id ?? actor_kind ?? 'the system') : jobInWords(job)}</>;
}

/** Records that have a page of their own, by their type. */
const PAGES: Readonly<Record<string, string>> = {
  customer: '/customers',
  subscription: '/subscriptions',
  invoice: '/invoices',
  wallet: '/wallets',
};

function Record({ of: { entity_type, entity_id } }: { readonly of: Entry }) {
  const page = PAGES[entity_type];
  const name = partInWords(entity_type);
  return page === undefined ? <>{name}</> : <Link to={`${page}/${entity_id}`}>{name}</Link>;
}

/** Fields that say how a record is kept, not what it is. */
const UNTOLD = new Set([
  'updated_at', 'updated_by', 'version', 'revision', 'last_computed_at', 'stream_heads', 'last_synced_at',
]); // prettier-ignore

function Changes({ entry: { before, after } }: { readonly entry: Entry }) {
  const names = Object.keys(after ?? {}).filter((name) => !UNTOLD.has(name));
  if (names.length === 0) return null;
  return (
    <details className={styles.changes}>
      <summary>
        {names.length === 1 ? '1 field' : `${names.length} fields`}:{' '}
        {names.slice(0, 4).map(fieldInWords).join(', ')}
        {names.length > 4 ? ' …' : ''}
      </summary>
      <dl>
        {names.map((name) => (
          <div key={name}>
            <dt>{fieldInWords(name)}</dt>
            <dd>
              <del>{shown(before?.[name])}</del> <ins>{shown(after?.[name])}</ins>
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

const shown = (value: unknown): string =>
  value === undefined || value === null || value === ''
    ? 'unset'
    : typeof value === 'string'
      ? value
      : JSON.stringify(value);
