/** The channel on which appends wake waiting consumers. */
export const RECORDS_CHANNEL = 'meterline_event_log';
