import { failureWords } from '../../web/pages/webhooks/failure-words.ts';
import { formatWord, sentence } from '../../web/ui/text.ts';

test.each([
  ['PARTIALLY_REFUNDED', 'Partially refunded'],
  ['ok', 'OK'],
  ['OK', 'OK'],
  ['api', 'API'],
  ['okay', 'Okay'],
])('the word %s is shown as %s', (word, shown) => {
  expect(formatWord(word)).toBe(shown);
});

test.each([
  ['none', 'None.'],
  ['last run 5 min ago', 'Last run 5 min ago.'],
  ['It failed.', 'It failed.'],
  ['12', '12'],
])('the finding %s is the sentence %s', (found, shown) => {
  expect(sentence(found)).toBe(shown);
});

test.each([
  ['getaddrinfo ENOTFOUND example.com', 'The host name was not found'],
  ['getaddrinfo EAI_AGAIN example.com', 'The host name was not found'],
  ['connect ECONNREFUSED 10.0.0.7:443', 'The connection was refused'],
  ['socket hang up', 'The connection was closed without an answer'],
  ['self-signed certificate', 'The certificate is not valid'],
  ['no answer within 10 s', 'No answer within 10 s'],
  [null, 'No answer'],
])('the failure %s of a notification is shown as %s', (error, shown) => {
  expect(failureWords(error)).toBe(shown);
});
