import { nearMiss } from '../../domain/near-miss.ts';

describe('the known word that an unknown one is a misspelling of', () => {
  test.each([
    ['proprties', ['properties', 'event_name'], 'properties'],
    ['propertys', ['properties'], 'properties'],
    ['time_zone', ['timezone'], 'timezone'],
    ['lokup_key', ['lookup_key'], 'lookup_key'],
    ['looukp_key', ['lookup_key'], 'lookup_key'],
    ['evnt:write', ['event:read', 'event:write'], 'event:write'],
    ['emial', ['email'], 'email'],
    ['emails', ['email'], 'email'],
    ['event_nam', ['event_names', 'event_name'], 'event_name'],
  ])('%s of %j is %s', (word, known, nearest) => expect(nearMiss(word, known)).toBe(nearest));

  test.each([
    ['too short', 'nam', ['name']],
    ['four letters', 'nmae', ['name']],
    ['two wrong of seven letters', 'colour_', ['color']],
    ['three wrong of eight letters', 'metadatum', ['metadaaa']],
    ['known itself', 'properties', ['propertie', 'properties']],
    ['nothing is known', 'properties', []],
    ['another word', 'reference', ['lookup_key', 'name']],
  ])('none: %s', (_why, word, known) => expect(nearMiss(word, known)).toBeNull());
});
