import { randomBytes } from 'node:crypto';
import { createSecretBox, type SecretKey } from '../../platform/secret-box.ts';

const keyNamed = (id: string): SecretKey => ({ id, key: randomBytes(32) });
const place = { tenant_id: 'tenant_a', column: 'connections.secret_data' };

describe('secret box', () => {
  const old = keyNamed('2025');
  const current = keyNamed('2026');

  test('a sealed secret can be opened, and the sealed text does not contain it', () => {
    const box = createSecretBox([current]);
    for (const secret of ['', 'sk_live_1', 'ключ', 'x'.repeat(100_000)]) {
      const sealed = box.seal(secret, place);
      expect(box.open(sealed, place)).toBe(secret);
      expect(sealed).toMatch(/^v1\.2026\.[A-Za-z0-9_-]+$/);
      // So much of it that chance does not write it.
      if (secret.length > 3) expect(sealed).not.toContain(secret.slice(0, 12));
    }
  });

  test('sealing the same secret twice gives two different texts', () => {
    const box = createSecretBox([current]);
    const texts = Array.from({ length: 100 }, () => box.seal('same', place));
    expect(new Set(texts).size).toBe(100);
  });

  test('rotation: the new key seals, the old one still opens, and what is outdated is known', () => {
    const sealed = createSecretBox([old]).seal('secret', place);
    const rotated = createSecretBox([current, old]);
    expect(rotated.open(sealed, place)).toBe('secret');
    expect([rotated.isOutdated(sealed), rotated.isOutdated(rotated.seal('s', place))]).toEqual([
      true,
      false,
    ]);
    expect(() => createSecretBox([current]).open(sealed, place)).toThrow(/"2025"/);
  });

  test('a sealed text opens where it was sealed and nowhere else', () => {
    const box = createSecretBox([current]);
    const sealed = box.seal('secret', place);
    expect(() => box.open(sealed, { ...place, tenant_id: 'tenant_b' })).toThrow();
    expect(() => box.open(sealed, { ...place, column: 'webhooks.secret' })).toThrow();
  });

  test('any changed bit is found', () => {
    const box = createSecretBox([current]);
    const [format, id, text] = box.seal('secret', place).split('.') as [string, string, string];
    const bytes = Buffer.from(text, 'base64url');
    for (let index = 0; index < bytes.length; index += 1) {
      const changed = Buffer.from(bytes);
      changed[index]! ^= 1;
      const sealed = [format, id, changed.toString('base64url')].join('.');
      expect(() => box.open(sealed, place)).toThrow();
    }
    expect(() => box.open([format, id, ''].join('.'), place)).toThrow();
  });

  test('another key under the same name does not open it', () => {
    const sealed = createSecretBox([current]).seal('secret', place);
    expect(() => createSecretBox([keyNamed('2026')]).open(sealed, place)).toThrow();
  });

  test('without a key nothing is sealed', () => {
    expect(() => createSecretBox([]).seal('secret', place)).toThrow(/ENCRYPTION_KEY/);
  });

  test('codes: one of 256 bits per key, the current first; another text, place or key has other codes', () => {
    const codes = (keys: SecretKey[], text = 'session 1', where = place) =>
      createSecretBox(keys)
        .codes(text, where)
        .map((code) => code.toString('hex'));
    const [code] = codes([current]);
    expect(code).toMatch(/^[0-9a-f]{64}$/);
    expect(codes([current, old])).toEqual([code, ...codes([old])]);
    expect(codes([current])).toEqual([code]);
    const others = [
      codes([current], 'session 2'),
      codes([current], 'session 1', { ...place, tenant_id: 'tenant_b' }),
      codes([current], 'session 1', { ...place, column: 'links.other' }),
      codes([old]),
    ].flat();
    expect(new Set([code, ...others]).size).toBe(5);
    expect(codes([])).toEqual([]);
  });
});
