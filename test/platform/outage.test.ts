import { ClickHouseError } from '@clickhouse/client';
import kafkajs from 'kafkajs';
import postgres from 'postgres';
import { isClickHouseOutage } from '../../clickhouse/outage.ts';
import { isRedisOutage } from '../../platform/cache/redis-outage.ts';
import { isKafkaOutage } from '../../platform/event-log/kafka-outage.ts';
import { isNetworkOutage } from '../../platform/network-outage.ts';
import { isPostgresOutage, isPostgresRace, isServerRefusal } from '../../postgres/outage.ts';

const { KafkaJSNonRetriableError, KafkaJSProtocolError, KafkaJSTimeout } = kafkajs;

const coded = (code: string, type: new (message: string) => Error = Error) =>
  Object.assign(new type(code), { code });
const sqlState = (code: string) =>
  Object.assign(Object.create(postgres.PostgresError.prototype) as Error, { code });
const clickHouse = (code: string) => new ClickHouseError({ message: 'x', code });
const named = (name: string, message = '') => Object.assign(new Error(message), { name });
// The driver's types leave out what its classes take.
const driverError = (type: unknown, ...given: unknown[]) =>
  new (type as new (...given: unknown[]) => Error)(...given);
const kafkaTimeout = driverError(KafkaJSTimeout, 'no answer');
const causedBy = (cause: Error) => driverError(KafkaJSNonRetriableError, cause, { cause });
const protocol = (retriable: boolean) =>
  new KafkaJSProtocolError(Object.assign(new Error('x'), { code: 1, type: 'X', retriable }));

describe('a connection that cannot be made or is lost is an outage for every driver', () => {
  const classifiers = { isPostgresOutage, isClickHouseOutage, isKafkaOutage, isRedisOutage };
  describe.each(Object.entries(classifiers))('%s', (_name, isOutage) => {
    test.each(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'])(
      '%s',
      (code) => expect(isOutage(coded(code))).toBe(true),
    );
    test('every address of a name', () => {
      expect(isOutage(new AggregateError([coded('ECONNREFUSED'), coded('EHOSTUNREACH')]))).toBe(
        true,
      );
    });
    test.each([
      ['a bad argument', coded('ERR_INVALID_ARG_TYPE', TypeError)],
      ['a value out of range', coded('ERR_OUT_OF_RANGE', RangeError)],
      ['a failed assertion', coded('ERR_ASSERTION')],
      ['a file that is not there', coded('ENOENT')],
      ['an error without a code', new TypeError('x is undefined')],
      ['one bug among the addresses', new AggregateError([coded('ECONNREFUSED'), new Error('x')])],
      ['no error at all', 'ECONNREFUSED'],
    ])('%s is a bug', (_what, error) => expect(isOutage(error)).toBe(false));
  });
  expect(isNetworkOutage(new AggregateError([]))).toBe(false);
});

test.each`
  what                             | error                               | outage   | race     | refusal
  ${'shutting down'}               | ${sqlState('57P01')}                | ${true}  | ${false} | ${false}
  ${'too many connections'}        | ${sqlState('53300')}                | ${true}  | ${false} | ${false}
  ${'disk full'}                   | ${sqlState('53100')}                | ${true}  | ${false} | ${false}
  ${'connection failure'}          | ${sqlState('08006')}                | ${true}  | ${false} | ${false}
  ${'read only after a fail-over'} | ${sqlState('25006')}                | ${true}  | ${false} | ${false}
  ${'no connection in time'}       | ${coded('CONNECT_TIMEOUT')}         | ${true}  | ${false} | ${false}
  ${'connection closed'}           | ${coded('CONNECTION_CLOSED')}       | ${true}  | ${false} | ${false}
  ${'deadlock'}                    | ${sqlState('40P01')}                | ${false} | ${true}  | ${false}
  ${'serialization failure'}       | ${sqlState('40001')}                | ${false} | ${true}  | ${false}
  ${'not unique'}                  | ${sqlState('23505')}                | ${false} | ${false} | ${true}
  ${'statement took too long'}     | ${sqlState('57014')}                | ${false} | ${false} | ${true}
  ${'undefined value in a query'}  | ${coded('UNDEFINED_VALUE')}         | ${false} | ${false} | ${false}
  ${'too many parameters'}         | ${coded('MAX_PARAMETERS_EXCEEDED')} | ${false} | ${false} | ${false}
`('Postgres, $what: outage $outage, race $race, refusal $refusal', ({ error, ...expected }) => {
  expect(isPostgresOutage(error)).toBe(expected.outage);
  expect(isPostgresRace(error)).toBe(expected.race);
  expect(isServerRefusal(error)).toBe(expected.refusal);
});

test.each`
  what                      | error                               | outage
  ${'too many queries'}     | ${clickHouse('202')}                | ${true}
  ${'shutting down'}        | ${clickHouse('236')}                | ${true}
  ${'out of time'}          | ${clickHouse('159')}                | ${true}
  ${'no answer'}            | ${named('Error', 'Timeout error.')} | ${true}
  ${'request given up'}     | ${named('AbortError')}              | ${true}
  ${'syntax'}               | ${clickHouse('62')}                 | ${false}
  ${'unknown column'}       | ${clickHouse('47')}                 | ${false}
  ${'unreadable value'}     | ${clickHouse('72')}                 | ${false}
  ${'decimal overflow'}     | ${clickHouse('407')}                | ${false}
  ${'corrupted part'}       | ${clickHouse('246')}                | ${false}
  ${'a code of the future'} | ${clickHouse('9999')}               | ${false}
`('ClickHouse, $what: outage $outage', ({ error, outage }) => {
  expect(isClickHouseOutage(error)).toBe(outage);
});

test.each`
  what                  | error                                | outage
  ${'leader moves'}     | ${protocol(true)}                    | ${true}
  ${'request refused'}  | ${protocol(false)}                   | ${false}
  ${'no answer'}        | ${kafkaTimeout}                      | ${true}
  ${'gave up retrying'} | ${causedBy(coded('ECONNREFUSED'))}   | ${true}
  ${'final'}            | ${new KafkaJSNonRetriableError('x')} | ${false}
`('Kafka, $what: outage $outage', ({ error, outage }) => {
  expect(isKafkaOutage(error)).toBe(outage);
});

test.each`
  what                   | error                                                                          | outage
  ${'no answer in time'} | ${new Error('Command timed out')}                                              | ${true}
  ${'not connected'}     | ${new Error("Stream isn't writeable and enableOfflineQueue options is false")} | ${true}
  ${'connection closed'} | ${new Error('Connection is closed.')}                                          | ${true}
  ${'gave up retrying'}  | ${named('MaxRetriesPerRequestError')}                                          | ${true}
`('Redis, $what: outage $outage', ({ error, outage }) => {
  expect(isRedisOutage(error)).toBe(outage);
});
