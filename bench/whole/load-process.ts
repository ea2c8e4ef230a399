import { connect, type Socket } from 'node:net';

/** Sends bulk calls of new events at a steady rate, from a separate process, and reports at the end. */
export interface LoadSettings {
  readonly port: number;
  readonly apiKey: string;
  readonly eventsPerSecond: number;
  readonly seconds: number;
  /** Events use these names in turn. */
  readonly eventNames: readonly string[];
  /** External ids of the customers: this, and a number below 1,000. */
  readonly customerPrefix: string;
  /** The events are spread over this time before the start, oldest first; 0 means the time of the start. */
  readonly spreadMs: number;
  /** Distinguishes the ids of two loads; 8 characters. */
  readonly run: string;
}

export interface LoadReport {
  readonly accepted: number;
  readonly refused: number;
  readonly seconds: number;
}

const EVENTS_PER_CALL = 1_000;
const CONNECTIONS = 8;
const CUSTOMERS = 1_000;
const PLACEHOLDER = '#'.repeat(16);

const settings = JSON.parse(process.argv[2]!) as LoadSettings;
const startMs = Date.now();
const events = settings.eventsPerSecond * settings.seconds;
const template = requestTemplate();
process.on('SIGTERM', () => process.exit(0));
process.send!('ready');
process.on('message', () => void load().then((report) => process.send!(report)));

/**
 * One request whose bytes are built once. Each call only overwrites the ids in place, and the times if they are
 * spread. So the load costs a fraction of the work it causes.
 */
function requestTemplate(): { bytes: Buffer; idOffsets: number[]; timeOffsets: number[] } {
  const at = new Date(startMs).toISOString();
  const events = Array.from({ length: EVENTS_PER_CALL }, (_, n) => ({
    event_id: settings.run + PLACEHOLDER,
    event_name: settings.eventNames[n % settings.eventNames.length],
    external_customer_id: `${settings.customerPrefix}${(n * 7919) % CUSTOMERS}`,
    timestamp: at,
    properties: { tokens: (n * 31) % 5_000, region: 'eu-west-1' },
  }));
  const body = JSON.stringify({ events });
  const bytes = Buffer.from(
    'POST /v1/events/bulk HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n' +
      `x-api-key: ${settings.apiKey}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  return {
    bytes,
    idOffsets: offsetsOf(bytes, PLACEHOLDER),
    timeOffsets: settings.spreadMs === 0 ? [] : offsetsOf(bytes, at),
  };
}

function offsetsOf(bytes: Buffer, text: string): number[] {
  const offsets: number[] = [];
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + text.length))
    offsets.push(at);
  return offsets;
}

let sequence = 0;
/** A copy with new ids: the scattered counter, then the counter, so that ids are not sorted. */
function freshRequest(): Buffer {
  const bytes = Buffer.from(template.bytes);
  template.timeOffsets.forEach((offset, index) => {
    const ageMs = settings.spreadMs * (1 - (sequence + index) / events);
    bytes.write(new Date(startMs - Math.max(ageMs, 0)).toISOString(), offset, 'latin1');
  });
  for (const offset of template.idOffsets) {
    sequence += 1;
    const scattered = (Math.imul(sequence, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0');
    bytes.write(scattered + sequence.toString(16).padStart(8, '0'), offset, 'latin1');
  }
  return bytes;
}

async function load(): Promise<LoadReport> {
  const began = performance.now();
  const until = began + settings.seconds * 1000;
  const callsPerMs = settings.eventsPerSecond / EVENTS_PER_CALL / 1000;
  let started = 0;
  let accepted = 0;
  let refused = 0;
  const connection = async (): Promise<void> => {
    const socket = connect(settings.port, '127.0.0.1').setNoDelay(true);
    for (;;) {
      // The clock decides how many calls are due; free connections send them.
      const dueAt = began + started / callsPerMs;
      started += 1;
      if (dueAt >= until) break;
      const waitMs = dueAt - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      if (performance.now() >= until) break;
      if ((await call(socket, freshRequest())) === 202) accepted += EVENTS_PER_CALL;
      else refused += EVENTS_PER_CALL;
    }
    socket.destroy();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  return { accepted, refused, seconds: (performance.now() - began) / 1000 };
}

/** Answers of this route fit in one chunk. */
function call(socket: Socket, request: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('data', (answer) => {
      socket.removeListener('error', reject);
      resolve(Number(answer.toString('latin1', 9, 12)));
    });
    socket.write(request);
  });
}
