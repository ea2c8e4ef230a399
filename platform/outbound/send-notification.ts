import { payloadOf } from '../../schemas/webhooks/payloads.ts';
import { isoTime, type Clock } from '../clock.ts';
import { emptyTextsOf } from '../http/empty-texts.ts';
import type { Outbound, OutboundAnswer } from './guarded-request.ts';
import type { OutboundRules } from './outbound-rules.ts';
import { webhookHeaders } from './standard-webhook.ts';

/** A notification for one receiver. */
export interface Notification {
  /** The same in every attempt, so that receivers can ignore duplicates. */
  readonly event_id: string;
  readonly event_type: string;
  readonly occurred_at: string;
  /** The time of the customer's test clock; null in real time. */
  readonly clock_time: string | null;
  readonly environment_id: string;
  /** Ascends within the events of one entity; null for a test. */
  readonly sequence: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface Receiver {
  readonly url: string;
  /** The current secret and, during a rotation, the previous one. */
  readonly secrets: readonly string[];
  readonly rules: OutboundRules;
}

/** One request and its answer. */
export interface Attempt {
  readonly created_at: string;
  readonly duration_ms: number;
  readonly status_code: number | null;
  readonly error: string | null;
  readonly request_headers: Readonly<Record<string, string>>;
  readonly request_body: string;
  readonly response_headers: Readonly<Record<string, string>> | null;
  readonly response_body: string | null;
}

const BODY_BYTES_MAX = 256 * 1024;

/** Sends a notification once (Standard Webhooks 1.0). A failure is part of the result; never rejects. */
export async function sendNotification(
  { outbound, clock }: { readonly outbound: Outbound; readonly clock: Clock },
  notification: Notification,
  receiver: Receiver,
): Promise<Attempt> {
  const atMs = clock.now();
  const body = bodyOf(notification);
  const headers = webhookHeaders(notification.event_id, atMs, body, receiver.secrets);
  const begun = performance.now();
  const { answer, error } = await answered(outbound, receiver, headers, body);
  return {
    created_at: isoTime(atMs),
    duration_ms: Math.round(performance.now() - begun),
    status_code: answer?.status ?? null,
    error,
    request_headers: headers,
    request_body: body.slice(0, BODY_BYTES_MAX),
    response_headers: answer?.headers ?? null,
    response_body: answer?.body ?? null,
  };
}

async function answered(
  outbound: Outbound,
  { url, rules }: Receiver,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<{ answer: OutboundAnswer | null; error: string | null }> {
  if (Buffer.byteLength(body) > BODY_BYTES_MAX)
    return { answer: null, error: `the notification is larger than ${BODY_BYTES_MAX} bytes` };
  try {
    const answer = await outbound.post({ url, headers, body, rules });
    const isSuccess = answer.status >= 200 && answer.status < 300;
    return { answer, error: isSuccess ? null : `the receiver answered ${answer.status}` };
  } catch (error) {
    return { answer: null, error: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * `event_type` and the payload's sections, then the keys that identify the notification (money 17.3). Unset texts are
 * "" where the answers about the record show "" (api 37).
 */
export function bodyOf(notification: Notification): string {
  const { event_id, event_type, occurred_at, clock_time, environment_id, sequence, payload } =
    notification;
  const fill = emptyTexts(event_type);
  return JSON.stringify({
    event_type,
    ...(fill === null ? payload : (fill(payload) as object)),
    id: event_id,
    created_at: clock_time ?? occurred_at,
    ...(clock_time === null ? {} : { real_created_at: occurred_at }),
    environment_id,
    sequence: sequence === null ? null : Number(sequence),
  });
}

const fillers = new Map<string, ReturnType<typeof emptyTextsOf>>();

function emptyTexts(type: string): ReturnType<typeof emptyTextsOf> {
  let filler = fillers.get(type);
  if (filler === undefined) {
    const form = payloadOf(type);
    filler = form === undefined ? null : emptyTextsOf(form);
    fillers.set(type, filler);
  }
  return filler;
}
