import { BillingError } from '../domain/errors.ts';
import type { EventFormat } from './parse-events.ts';

const FORMATS: Readonly<Record<string, EventFormat>> = {
  'application/cloudevents+json': 'cloudevent',
  'application/cloudevents-batch+json': 'cloudevents',
  'application/x-ndjson': 'lines',
  'application/ndjson': 'lines',
};

/**
 * The content type decides the format of the events; for plain JSON or no content type, the route decides. So
 * a collector that can send to one address only may send batches to either route.
 */
export function formatOf(
  contentType: string | undefined,
  ofRoute: 'event' | 'events',
): EventFormat {
  if (contentType === undefined) return ofRoute;
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase();
  if (type === 'application/json' || type === '') return ofRoute;
  const format = FORMATS[type];
  if (format !== undefined) return format;
  const message = `is not supported: use application/json, ${Object.keys(FORMATS).join(', ')}`;
  throw new BillingError('invalid', 'validation_error', 'Invalid request payload', [
    { path: 'Content-Type', code: 'invalid_value', message },
  ]);
}
