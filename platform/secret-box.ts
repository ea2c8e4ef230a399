import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { BillingError } from '../domain/errors.ts';

/** A key of 32 bytes under the name by which sealed texts remember it. */
export interface SecretKey {
  readonly id: string;
  readonly key: Buffer;
}

/** Where a secret stands. It is authenticated with it: copied elsewhere, a sealed text does not open. */
export interface SecretPlace {
  readonly tenant_id: string;
  /** `table.column`. */
  readonly column: string;
}

/** Seals what has to be read again but must not lie in a database dump (tenancy S24). */
export interface SecretBox {
  /** Throws 503 `encryption_not_configured` without a key. */
  seal(secret: string, place: SecretPlace): string;
  /** Throws when the text was changed, stands elsewhere, or its key is not known any more. */
  open(sealed: string, place: SecretPlace): string;
  /** Whether the text is sealed with another key than new ones are. */
  isOutdated(sealed: string): boolean;
}

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const FORMAT = 'v1';

/** Seals with the first key and opens with any: a new key goes in front, an old one stays until nothing needs it. */
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
        throw new Error(`No key of ENCRYPTION_KEY opens what was sealed with "${id}".`);
      const bytes = Buffer.from(text, 'base64url');
      const body = bytes.subarray(IV_BYTES, -TAG_BYTES);
      const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(placeBytes(place, id)).setAuthTag(bytes.subarray(-TAG_BYTES));
      return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
    },
    isOutdated: (sealed) => current !== undefined && keyIdOf(sealed) !== current.id,
  };
}

const placeBytes = ({ tenant_id, column }: SecretPlace, keyId: string): Buffer =>
  Buffer.from(JSON.stringify([FORMAT, keyId, tenant_id, column]));

const notConfigured = (): BillingError =>
  new BillingError(
    'unavailable',
    'encryption_not_configured',
    'Secrets can not be kept: the service was started without ENCRYPTION_KEY.',
  );
