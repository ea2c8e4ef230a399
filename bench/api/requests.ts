import {
  CUSTOMERS,
  customerEmail,
  customerExternalId,
  customerId,
  customerName,
} from './customers.ts';

export type RequestKind = 'get' | 'create' | 'search';

export interface BenchRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string | null;
  readonly status: number;
  /** The kind of search, or the kind of request if it is not a search. */
  readonly label: string;
}

/** The n-th request of a kind. Numbers are scattered over all customers. */
export function nextRequest(kind: RequestKind, n: number): BenchRequest {
  const customer = ((n * 7_919) % CUSTOMERS) + 1;
  switch (kind) {
    case 'get':
      return {
        method: 'GET', path: `/v1/customers/${customerId(customer)}`, body: null, status: 200, label: kind,
      }; // prettier-ignore
    case 'create': {
      const body = {
        external_id: `new-${process.pid}-${n}`,
        name: `New customer ${n}`,
        email: `new${n}@made.example`,
        address_country: 'DE',
        metadata: { source: 'bench' },
      };
      return {
        method: 'POST', path: '/v1/customers', body: JSON.stringify(body), status: 201, label: kind,
      }; // prettier-ignore
    }
    case 'search': {
      const [label, body] = SEARCHES[n % SEARCHES.length]!(customer);
      return {
        method: 'POST', path: '/v1/customers/search', body: JSON.stringify(body), status: 200, label,
      }; // prettier-ignore
    }
  }
}

const day = (n: number): string => new Date(Date.UTC(2025, 11, 1 + n)).toISOString();

/** Typical console searches: lists, one customer by a known field, parts of a name. */
const SEARCHES: readonly ((n: number) => [label: string, body: object])[] = [
  () => ['newest', {}],
  () => ['newest', {}],
  () => ['published', { status: 'published' }],
  (n) => ['published, a later page', { status: 'published', offset: (n % 100) * 50 }],
  (n) => ['external id', { external_id: customerExternalId(n) }],
  (n) => ['external id', { external_id: customerExternalId(n) }],
  (n) => ['e-mail', { email: customerEmail(n).toUpperCase() }],
  (n) => [
    'ten external ids',
    { external_ids: Array.from({ length: 10 }, (_, i) => customerExternalId(((n + i) % CUSTOMERS) + 1)) },
  ],
  (n) => [
    'part of a name',
    {
      filters: [
        {
          field: 'name', operator: 'contains', data_type: 'string',
          value: { string: customerName(n).split(' ')[1]!.slice(1, 7) },
        },
      ],
    },
  ],
  (n) => ['made on a day', { start_time: day(n % 300), end_time: day((n % 300) + 1) }],
  () => ['by name', { sort: [{ field: 'name', direction: 'desc' }] }],
  () => ['by change', { sort: [{ field: 'updated_at', direction: 'desc' }] }],
]; // prettier-ignore
