/** What an example reads of a meter. */
interface Counted {
  readonly event_name: string;
  /** The property that the meter adds up; empty for a meter that only counts. */
  readonly field: string;
  readonly filters: readonly { readonly key: string; readonly values: readonly string[] }[];
}

export interface ExampleEvent {
  readonly event_id: string;
  readonly event_name: string;
  readonly external_customer_id: string;
  readonly properties: Readonly<Record<string, string | number>>;
}

const CUSTOMER = 'acme';
const VALUE = 42;

/** An event that the meter counts: its name, with a value for each property that it reads. */
export function exampleFor(
  meter: Counted,
  event_id: string,
  external_customer_id = CUSTOMER,
): ExampleEvent {
  const filtered = meter.filters.flatMap(({ key, values }) =>
    values[0] === undefined ? [] : [[key, values[0]] as const],
  );
  const properties = {
    ...(meter.field === '' ? {} : { [meter.field]: VALUE }),
    ...Object.fromEntries(filtered),
  };
  return { event_id, event_name: meter.event_name, external_customer_id, properties };
}

/** What an example reads of a meter as the API has it, stored or not. */
export const countedBy = ({
  event_name,
  aggregation,
  filters,
}: {
  readonly event_name: string;
  readonly aggregation: { readonly field?: string | null | undefined };
  readonly filters?: Counted['filters'] | null | undefined;
}): Counted => ({ event_name, field: aggregation.field ?? '', filters: filters ?? [] });
