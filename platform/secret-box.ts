import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { BillingError } from '../domain/errors.ts';

/** A key of 32 bytes, with the name that encrypted texts refer to. */
export interface SecretKey {
  readonly id: string;
  readonly key: Buffer;
}

/**
 * Where a secret is stored. The place is authenticated data: an encrypted text that is copied elsewhere does
 * not decrypt.
 */
export interface SecretPlace {
  readonly tenant_id: string;
  /** `table.column`. */
  readonly column: string;
}

/** Encrypts secrets that must be readable again but must not appear in a database dump (tenancy S24). */
export interface SecretBox {
  /** Throws 503 `encryption_not_configured` without a key. */
  seal(secret: string, place: SecretPlace): string;
  /** Throws when the text was changed or moved, or when its key is no longer known. */
  open(sealed: string, place: SecretPlace): string;
  /**
   * Message authentication codes of the text, of 256 bits, under every key; the current key's code is first.
   * Without a key there are none.
   */
  codes(text: string, place: SecretPlace): readonly Buffer[];
  /** Whether the text is encrypted with another key than new texts are. */
  isOutdated(sealed: string): boolean;
}

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const FORMAT = 'v1';

/**
 * Encrypts with the first key and decrypts with any. A new key goes first; an old key stays until no text
 * needs it.
 */
export function createSecretBox(keys: readonly SecretKey[]): SecretBox {
  const [current] = keys;
  const byId = new Map(keys.map(({ id, key }) => [id, key]));
  const keyIdOf = (sealed: string): string => sealed.split('.')[1] ?? '';
  return {
    seal(secret, place) {
      if (current === undefined) throw notConfigured();
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(CIPHER, current.key, iv).setAAD(placeBytes(place, current.id));
      const body = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      const bytes = Buffer.concat([iv, body, cipher.getAuthTag()]);
      return [FORMAT, current.id, bytes.toString('base64url')].join('.');
    },
    open(sealed, place) {
      const [format, id = '', text = ''] = sealed.split('.');
      const key = byId.get(id);
      if (format !== FORMAT || key === undefined)
        throw new Error(`ENCRYPTION_KEY has no key "${id}", which encrypted this text.`);
      const bytes = Buffer.from(text, 'base64url');
      const body = bytes.subarray(IV_BYTES, -TAG_BYTES);
      const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(placeBytes(place, id)).setAuthTag(bytes.subarray(-TAG_BYTES));
      return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
    },
    codes: (text, place) =>
      keys.map(({ id, key }) => {
        // A key of its own: the encryption key is used for encryption only.
        const codeKey = createHmac('sha256', key).update('codes').digest();
        return createHmac('sha256', codeKey).update(placeBytes(place, id)).update(text).digest();
      }),
    isOutdated: (sealed) => current !== undefined && keyIdOf(sealed) !== current.id,
  };
}

const placeBytes = ({ tenant_id, column }: SecretPlace, keyId: string): Buffer =>
  Buffer.from(JSON.stringify([FORMAT, keyId, tenant_id, column]));

const notConfigured = (): BillingError =>
  new BillingError(
    'unavailable',
    'encryption_not_configured',
    'Secrets cannot be kept: the service was started without ENCRYPTION_KEY.',
  );
