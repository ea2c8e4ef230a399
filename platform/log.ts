import { pino, type Logger } from 'pino';

export type { Logger };

/** Structured logs, one JSON object a line. Credentials are redacted at any depth. */
export function createLogger(level: string, role: string): Logger {
  return pino({
    level,
    base: { role, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: [
        'req.headers["x-api-key"]',
        'req.headers.authorization',
        '*.password',
        '*.api_key',
        '*.secret',
        'password',
        'api_key',
        'secret',
      ],
      censor: '[redacted]',
    },
  });
}
